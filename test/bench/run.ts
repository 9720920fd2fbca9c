import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Bench, Contestant } from './contestant.js';
import { connected, type Place, prepareDatabases, type SideName } from './database.js';
import { generator } from './load.js';
import { measure } from './measure.js';
import { isAgainstOther, options } from './options.js';
import { profiled, summary } from './profile.js';
import { type Figures, machine, table } from './report.js';
import { shapeOf } from './shape.js';
import { startSides } from './sides.js';
import { chosen, type Workload, workloads, type Yardstick } from './workloads.js';

/*
 * npm run bench: this server against the best that a hand-written one does, side by side on one machine; or against itself
 * under other settings, or another checkout. README.md beside this file tells of its options and of what is measured.
 */

/** Instead of the yardsticks: the same requests to another server of ours. */
const other: Yardstick = { name: 'other', side: 'other', target: {} };

/** Profiles the middle of a round: while connections end, other things happen. */
async function profile(bench: Bench, workload: Workload, side: SideName): Promise<void> {
  const yardstick = workload.yardsticks.find((one) => one.side === side);
  if (!yardstick && side !== 'server') throw new Error(`${workload.key} is not compared with ${side}`);
  const server = new Contestant(bench, side, yardstick?.calls ?? workload.calls, workload.isOnce);
  await server.answers();
  await server.warm();
  const load = server.round(options.seconds + 2);
  await setTimeout(1000);
  const found = await profiled(bench.sides.inspected!, () => setTimeout(options.seconds * 1000));
  const { requests, cpu } = await load;
  writeFileSync(resolve(`test/bench/${workload.key}.cpuprofile`), JSON.stringify(found));
  console.log(`\n## ${workload.title}: ${requests} requests, ${cpu.toFixed(2)} ms of processor time each\n${summary(found, cpu)}`);
}

async function benchmark(bench: Bench, all: Workload[], load: string) {
  const rows: Figures[] = [];
  for (const workload of all) {
    const found = await measure(bench, workload);
    for (const { rival, ratio } of found) console.error(`${workload.key}: ${rival ? `${ratio?.toFixed(2)} of ${rival.name}` : 'done'}`);
    rows.push(...found);
  }
  const memory = Object.fromEntries([...bench.sides.running].map(([name, server]) => [name, Math.round(server.memory())]));
  const on = machine(bench.place, load);
  const { rounds, seconds, connections } = options;
  console.log(`\n${table(rows)}\n\nMemory (RSS) afterwards: ${JSON.stringify(memory)} MB; of the server, target ≤ 250 MB.`);
  console.log(`Measured on ${Object.values(on).join(', ')}; ${connections} connections, ${rounds} rounds of ${seconds} s each.`);
  const report = { at: new Date().toISOString(), machine: on, options, memory, workloads: rows };
  writeFileSync(resolve('test/bench/results.json'), `${JSON.stringify(report, null, 2)}\n`);
}

/** Which servers the run needs; which workloads there are is known only once one of them answers. */
function sideNames(): SideName[] {
  if (options.profiled) return [...new Set<SideName>(['server', options.profiled])];
  return isAgainstOther ? ['server', 'other'] : ['server', 'ceiling', 'kept'];
}

async function withPlace(work: (place: Place) => Promise<void>): Promise<void> {
  const place = await prepareDatabases(sideNames(), options.keep);
  try {
    await work(place);
  } finally {
    await place.drop();
  }
}

const { name, send } = await generator();
await withPlace(async (place) => {
  const sides = await startSides(place, sideNames());
  try {
    const url = place.urls.server;
    const shape = await shapeOf(sides.running.get('server')!, place.key);
    const all = await connected(url, (client) => workloads({ client, filled: place, shape, settings: sides.settings }));
    const wanted = chosen(all, options.only).map((one) => (isAgainstOther ? { ...one, yardsticks: [other] } : one));
    await connected(url, async (client) => {
      const bench = { place, sides, send, client };
      if (options.profiled) for (const workload of wanted) await profile(bench, workload, options.profiled);
      else await benchmark(bench, wanted, name);
    });
  } finally {
    await sides.stop();
  }
});
