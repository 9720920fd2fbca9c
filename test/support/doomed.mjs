/** A worker that takes a job and never ends it: `node doomed.mjs <database> <queue>`. Says "ready", then "taken". */
import { pino } from 'pino';

const { openDatabase } = await import('../../dist/src/kernel/database/index.js');
const { MemoryChannel } = await import('../../dist/src/kernel/events/channel.js');
const { JobQueue } = await import('../../dist/src/workers/jobs.js');

const [url, queue] = process.argv.slice(2);
const log = pino({ level: 'warn' });
const database = await openDatabase({ url, dataDir: ':memory:', log });
const app = { database, channel: new MemoryChannel(false), log, clock: { now: () => new Date() } };
const take = () => {
  console.log('taken');
  return new Promise(() => {});
};
const [jobs, whole] = [new JobQueue(app, true), { ...app, registry: { jobs: new Map([[queue, take]]) } }];
await jobs.prepare(whole);
jobs.start(whole);
console.log('ready');
