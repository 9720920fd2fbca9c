import type { App } from '../kernel/context/context.js';

const keptMs = 1000;
/** Longer than this the database is not there. */
const timeoutMs = 2000;

/**
 * Whether the server can do its work: it is not stopping, and its database answers and has the schema of this version. It does while that
 * takes no writes: what only reads is answered. Looked up at most once a second, however often it is asked.
 */
export function readiness(app: App): () => Promise<boolean> {
  let looked = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(false);
  return async () => {
    if (!app.ready) return false;
    if (performance.now() - looked >= keptMs) {
      looked = performance.now();
      answer = answers(app);
    }
    return answer;
  };
}

async function answers({ database }: App): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  const current = database.isCurrent().catch(() => false);
  return Promise.race([current, late]).finally(() => clearTimeout(timer));
}
