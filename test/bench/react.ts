import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { emptyDatabase } from './database.js';
import { freePort, ourServer, type Running } from './process.js';
import { accounts, creating } from './react.creating.js';
import { lag } from './react.lag.js';
import { drained, Sink, type Stage } from './react.parts.js';
import { runs } from './react.runs.js';
import { sending } from './react.sending.js';
import { unwanted } from './react.unwanted.js';

/*
 * npm run bench:react -- --only deliveries,lag: what the server does by itself, with the API and the worker as two processes.
 *
 *   create       contacts that are created a second with 20 webhooks and 20 workflows for them, with the API alone (react.creating.ts)
 *   deliveries   deliveries a second against a bare loop (react.sending.ts)
 *   lag          from an event to its webhook and to the end of its run, beside requests (react.lag.ts)
 *   unwanted     an event that none of 20 and 200 webhooks wants (react.unwanted.ts)
 *   runs         runs of an automation a second against a hand-written runner (react.runs.ts)
 *   beside       as create, with a worker beside it, which shares the machine
 *
 *   REACT_ROUNDS       rounds of each side, A B B A … (4)
 *   REACT_DELIVERIES   deliveries of a round (3000)
 *   REACT_SECONDS      length of a round of contacts (3)
 *   REACT_LAG_SECONDS  length of a round of changes beside requests (10)
 *   REACT_EVENTS       changes of a round that nobody wants (3000)
 *   REACT_RUNS         runs in all, over the rounds (10000)
 *   REACT_FLAGS        Node's flags of the worker instead of those of npm start, as --cpu-prof
 *   BENCH_DATABASE_URL PostgreSQL, as one who may make databases
 */
const { REACT_ROUNDS = '4', REACT_FLAGS = '' } = process.env;
const rounds = Number(REACT_ROUNDS);
const parts = ['create', 'deliveries', 'lag', 'unwanted', 'runs', 'beside'] as const;
type Part = (typeof parts)[number];

function wantedParts(): ReadonlySet<Part> {
  const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
  const named = only?.split(',') ?? parts;
  const isPart = (name: string): name is Part => parts.some((part) => part === name);
  return new Set([...named].map((name) => (isPart(name) ? name : fail(`--only ${name} is none of ${parts.join(', ')}`))));
}
const fail = (message: string): never => {
  throw new Error(message);
};

const withWorker: Record<Exclude<Part, 'create'>, (stage: Stage) => Promise<void>> = {
  deliveries: (stage) => sending(stage, rounds),
  lag: (stage) => lag(stage, rounds),
  unwanted: (stage) => unwanted(stage, rounds),
  runs: (stage) => runs(stage, rounds),
  beside: async ({ api, sink, database }) => {
    const both = await accounts(api, sink, ['busier', 'idler']);
    await creating('a worker beside it', { server: api, rounds, ...both, after: () => drained(database) });
  },
};

async function main(): Promise<void> {
  const wanted = wantedParts();
  const folder = mkdtempSync(join(tmpdir(), 'react-'));
  const sink = new Sink();
  await sink.open();
  await emptyDatabase('crm_react', async (databaseUrl) => {
    const database = new pg.Client(databaseUrl);
    const env = { WEBHOOK_ALLOW_PRIVATE: '1', DEFAULT_PLAN: 'enterprise' };
    const [port, other] = [await freePort(), await freePort()];
    const api = ourServer({ port, databaseUrl, dataDir: folder, env: { ...env, ROLE: 'api' } });
    const running: Running[] = [api];
    try {
      await api.ready();
      await database.connect();
      if (wanted.has('create')) await creating('the API alone', { server: api, rounds, ...(await accounts(api, sink, ['busy', 'idle'])) });
      // What waits for the worker is no part of what follows.
      await database.query('delete from feed_readers');
      const flags = REACT_FLAGS ? REACT_FLAGS.split(' ') : undefined;
      const worker = ourServer({ port: other, databaseUrl, dataDir: folder, flags, env: { ...env, ROLE: 'worker' } });
      running.push(worker);
      await worker.ready();
      await drained(database);
      for (const part of parts) {
        sink.times = [];
        if (part !== 'create' && wanted.has(part)) await withWorker[part]({ database, databaseUrl, api, worker, sink });
      }
    } finally {
      await database.end();
      await Promise.all(running.map((one) => one.stop()));
      sink.close();
    }
  });
  rmSync(folder, { recursive: true });
}

await main();
