import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place, SideName } from './database.js';
import { options } from './options.js';
import { freePort, ourServer, type Running, started } from './process.js';

/** The servers that run, each over its own database. */
export interface Sides {
  running: ReadonlyMap<SideName, Running>;
  /** The port of the inspector of the server that is profiled. */
  inspected?: number;
  stop(): Promise<void>;
}

/** Starts the servers that are needed, and waits until they answer. */
export async function startSides(place: Place, names: readonly SideName[]): Promise<Sides> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-data-'));
  const inspected = options.profiled && (await freePort());
  const { flags, settings, checkout } = options;

  const start = async (side: SideName): Promise<Running> => {
    const [port, databaseUrl, dataDir] = [await freePort(), place.urls[side], join(folder, side)];
    const common = { port, flags, inspected: side === options.profiled ? inspected : undefined };
    if (side === 'server') return ourServer({ ...common, databaseUrl, dataDir });
    if (side === 'other') return ourServer({ ...common, name: 'the other', databaseUrl, dataDir, env: settings, folder: checkout ?? '.' });
    const env = { DATABASE_URL: databaseUrl, KEPT: side === 'kept' ? '1' : '' };
    return started({ ...common, name: side, script: 'dist/test/bench/ceiling.js', env });
  };

  const running = new Map<SideName, Running>();
  const stop = async () => {
    await Promise.all([...running.values()].map((server) => server.stop()));
    rmSync(folder, { recursive: true });
  };
  try {
    for (const name of names) running.set(name, await start(name));
    await Promise.all([...running.values()].map((server) => server.ready()));
    return { running, inspected, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
