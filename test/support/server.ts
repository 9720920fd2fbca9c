import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from '../../src/app.js';
import { type Config, type RateLimits, readConfig } from '../../src/kernel/base/config.js';
import { logger } from '../../src/kernel/base/log.js';
import { forgetCallers } from '../../src/modules/auth/auth.identify.js';
import { Client, type Wire } from './client.js';
import { MovableClock } from './clock.js';
import { embeddedDatabase, freshPlace, type Place } from './database.js';
import { Seed } from './seed.js';

export interface Options {
  /** Rate limits are off unless asked for: true for the contract's, or numbers of one's own. */
  limits?: true | Partial<Omit<RateLimits, 'enabled'>>;
  /** Anything else of the configuration. */
  config?: Partial<Config>;
  /** Runs beside another server on the same database (PostgreSQL only) and Redis. */
  beside?: TestServer;
}

/** The real server, listening on a port of its own. */
export interface TestServer extends Server {
  clock: MovableClock;
  seed: Seed;
  wire: Wire;
  /** The lines that the server logged as warnings or worse. */
  logs: string[];
  place: Place;
  /** Where the simulators leave e-mails and SMS. */
  outboxDir: string;
  /** A caller without credentials. */
  anybody(): Client;
  /**
   * How many SQL statements the work sends: the least of some runs. What the work does once only is made anew for each of them by the
   * caller, or else is not counted. What its events set off is held back meanwhile, unless the work waits to be told of it.
   */
  statements(work: () => Promise<unknown>, options?: { told?: boolean }): Promise<number>;
}

/** Longer than the relay and what it wakes wait between two of their statements. */
const restMs = 30;

const SECRET_KEY = 'a secret key for tests only, never for anything else';

function configFor(place: Place, outboxDir: string, { limits, config }: Options): Config {
  const read = readConfig({
    NODE_ENV: 'test',
    PORT: '0',
    DATABASE_URL: place.databaseUrl,
    REDIS_URL: place.redisUrl,
    DATA_DIR: ':memory:',
    OUTBOX_DIR: outboxDir,
    SECRET_KEY,
    SEED_DEMO: '0',
    WEBHOOK_ALLOW_PRIVATE: '1',
    RATE_LIMIT_ENABLED: limits ? '1' : '0',
  });
  return { ...read, ...config, limits: { ...read.limits, ...(typeof limits === 'object' && limits) } };
}

/** Boots the real server in process on an empty database of its own. Close it in `afterAll`. */
export async function server(options: Options = {}): Promise<TestServer> {
  const place = options.beside ? { ...options.beside.place, drop: async () => {} } : await freshPlace();
  const outboxDir = mkdtempSync(join(tmpdir(), 'crm-outbox-'));
  const clock = options.beside?.clock ?? new MovableClock();
  const logs: string[] = [];
  const log = logger('warn', { write: (line: string) => void logs.push(line) });
  const embedded = place.databaseUrl ? undefined : await embeddedDatabase();
  const inner = await createServer(configFor(place, outboxDir, options), { clock, log, embedded, sweeps: false });
  clock.onMove((isForward) => {
    forgetCallers(inner.app);
    // Nothing comes due by a clock that goes back.
    if (isForward) for (const due of inner.app.registry.due.keys()) inner.app.jobs.wake(due);
  });
  await inner.http.listen({ port: 0, host: '127.0.0.1' });
  const agent = new Agent({ keepAlive: true });
  const wire = { port: (inner.http.server.address() as AddressInfo).port, agent, logs };
  const anybody = () => new Client(wire);
  const close = async () => {
    agent.destroy();
    await inner.close();
    await place.drop();
    rmSync(outboxDir, { recursive: true, force: true });
    letGo(testServer);
  };
  const statements: TestServer['statements'] = async (work, { told = false } = {}) => {
    const { eventsWritten } = inner.app;
    let wrote = false;
    const counts: number[] = [];
    // What the work waits for takes longer, and more comes in between.
    for (let run = 0; run < (told ? 6 : 4); run++) {
      const before = await (wrote ? countAtRest(inner) : count(inner));
      wrote = told;
      const hold = () => {
        wrote = true;
      };
      if (!told) inner.app.eventsWritten = hold;
      await work().finally(() => Object.assign(inner.app, { eventsWritten }));
      counts.push((await count(inner)) - before);
      if (wrote) eventsWritten();
    }
    return Math.min(...counts);
  };
  const seed = new Seed(inner.app, anybody);
  const testServer: TestServer = { ...inner, clock, wire, logs, place, outboxDir, anybody, statements, close, seed };
  return testServer;
}

/** Node keeps the modules of every file that a worker ran, and what they name: 15 MB for each server, were it not for this. */
function letGo(server: TestServer): void {
  const { wire, logs, place, outboxDir } = server;
  for (const holder of [server.seed, server]) for (const part of Object.keys(holder)) Reflect.deleteProperty(holder, part);
  Object.assign(server, { wire, logs, place, outboxDir, close: async () => {} });
}

const count = async ({ metrics }: Server) => (await metrics.queries.get()).values.reduce((sum, { value }) => sum + value, 0);

/** The statements so far, once none has come for a while: what earlier requests set off is done. */
async function countAtRest(server: Server): Promise<number> {
  let [last, since] = [await count(server), performance.now()];
  while (performance.now() - since < restMs) {
    await new Promise((resume) => setTimeout(resume, 5));
    const now = await count(server);
    if (now !== last) [last, since] = [now, performance.now()];
  }
  return last;
}
