import { utimesSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

// Shows that the holder of a lock file lives: in a thread of its own, since the embedded database may hold the event loop for seconds.

export interface Beat {
  file: string;
  everyMs: number;
}

const { file, everyMs } = workerData as Beat;

function beat(): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // It was taken away, or its disk does not answer: the next beat tries again.
  }
}

beat();
setInterval(beat, everyMs);
