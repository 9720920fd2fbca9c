import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { checkSame, checkTraces, statementsOf } from './check.js';
import { connected, type Place, prepareDatabases } from './database.js';
import { type Generator, generator } from './load.js';
import { ourServer, type Running, started } from './process.js';
import { profiled, summary } from './profile.js';
import { type Figures, figures, machine, table } from './report.js';
import { type Workload, workloads } from './workloads.js';

/*
 * npm run bench: this server against the best that a hand-written one does, side by side on one machine.
 *
 *   BENCH_SECONDS, BENCH_ROUNDS   length and number of the rounds of each server (5, 4)
 *   BENCH_WARM                    the most seconds that a server warms up for before a workload's first round (20)
 *   BENCH_ONLY                    workloads, by key: read,list,search,graphql,deep,create
 *   BENCH_CONNECTIONS             connections that are kept busy (16)
 *   BENCH_DATABASE_URL            PostgreSQL, as one who may make databases
 *   BENCH_KEEP=1                  keeps the filled database for the next run
 *   BENCH_PORT                    the first of three free ports (4170)
 *   BENCH_FLAGS                   Node's flags of both servers, instead of those of npm start
 *   BENCH_PROFILE=1               profiles this server instead, workload by workload
 */
const { BENCH_SECONDS = '5', BENCH_WARM = '20', BENCH_ROUNDS = '4' } = process.env;
const { BENCH_ONLY, BENCH_CONNECTIONS = '16', BENCH_PORT = '4170' } = process.env;
const [seconds, warmSeconds, rounds] = [Number(BENCH_SECONDS), Number(BENCH_WARM), Number(BENCH_ROUNDS)];
const [connections, port] = [Number(BENCH_CONNECTIONS), Number(BENCH_PORT)];
const profiling = process.env.BENCH_PROFILE === '1';
const say = (text: string) => console.error(text);

interface Bench {
  place: Place;
  server: Running;
  ceiling: Running;
  send: Generator;
}

function startServers(place: Place, folder: string) {
  const server = ourServer(port, place.serverUrl, folder, profiling ? port + 2 : undefined);
  return { server, ceiling: started('the ceiling', port + 1, 'dist/test/bench/ceiling.js', { DATABASE_URL: place.ceilingUrl }) };
}

/** One round of one server. */
async function round(bench: Bench, target: Running, workload: Workload, from: number, length = seconds) {
  const calls = (target === bench.server && workload.serverCalls) || workload.calls;
  const before = target.cpu();
  const load = await bench.send({ url: target.url, key: bench.place.key, calls, from, seconds: length, connections });
  return { ...load, cpu: (target.cpu() - before) / load.requests };
}

const warmRequests = 15_000;
const warmStep = 2;

/** Lets a server answer until its code is compiled and its caches are full: what is measured is a server that has been running. */
async function warm(bench: Bench, target: Running, workload: Workload): Promise<void> {
  let done = 0;
  for (let spent = 0; spent < warmSeconds && done < warmRequests; spent += warmStep) {
    done += (await round(bench, target, workload, done, warmStep)).requests;
  }
}

/** The rounds of a workload, interleaved A B B A …; the two of a pair begin with the same request. */
async function measure(bench: Bench, workload: Workload): Promise<Figures> {
  const { server, ceiling, place } = bench;
  const isCompared = workload.target.ratio !== undefined;
  const bytes = isCompared ? await checkSame(workload, server, ceiling, place.key) : 0;
  if (workload.key === 'create') await checkTraces(place.serverUrl, place.ceilingUrl);
  const statements = {
    server: await statementsOf(server, workload.serverCalls ?? workload.calls, place.key),
    ceiling: isCompared ? await statementsOf(ceiling, workload.calls, place.key) : 0,
  };
  for (const target of isCompared ? [server, ceiling] : [server]) await warm(bench, target, workload);
  const measured = { workload, server: [], ceiling: [], statements, bytes } as Parameters<typeof figures>[0];
  for (let i = 0; i < rounds; i++) {
    const pair = !isCompared ? [server] : i % 2 === 0 ? [server, ceiling] : [ceiling, server];
    for (const target of pair) measured[target === server ? 'server' : 'ceiling'].push(await round(bench, target, workload, i * 5003));
  }
  const result = figures(measured);
  say(isCompared ? `${workload.key}: ${result.ratio.toFixed(2)} of the ceiling` : `${workload.key}: done`);
  return result;
}

/** Profiles the middle of a round: while connections end, other things happen. */
async function profile(bench: Bench, workload: Workload): Promise<void> {
  if (workload.target.ratio !== undefined) await checkSame(workload, bench.server, bench.ceiling, bench.place.key);
  await warm(bench, bench.server, workload);
  const load = round(bench, bench.server, workload, 0, seconds + 2);
  await setTimeout(1000);
  const found = await profiled(port + 2, () => setTimeout(seconds * 1000));
  const { requests, cpu } = await load;
  writeFileSync(resolve(`test/bench/${workload.key}.cpuprofile`), JSON.stringify(found));
  console.log(`\n## ${workload.title}: ${requests} requests, ${cpu.toFixed(2)} ms of processor time each\n${summary(found)}`);
}

async function benchmark(bench: Bench, chosen: Workload[], load: string) {
  const rows: Figures[] = [];
  for (const workload of chosen) rows.push(await measure(bench, workload));
  const memory = { server: Math.round(bench.server.memory()), ceiling: Math.round(bench.ceiling.memory()) };
  const on = machine(bench.place, load);
  console.log(`\n${table(rows)}\n\nMemory (RSS) afterwards: ${memory.server} / ${memory.ceiling} MB, target ≤ 250 MB.`);
  console.log(`Measured on ${Object.values(on).join(', ')}; ${connections} connections, ${rounds} rounds of ${seconds} s each.`);
  const settings = { seconds, rounds, connections };
  const report = { at: new Date().toISOString(), machine: on, settings, memory, workloads: rows };
  writeFileSync(resolve('test/bench/results.json'), `${JSON.stringify(report, null, 2)}\n`);
}

async function main(): Promise<void> {
  const { name, send } = await generator();
  const place = await prepareDatabases();
  const folder = mkdtempSync(join(tmpdir(), 'bench-data-'));
  const servers = startServers(place, folder);
  try {
    await Promise.all([servers.server.ready(), servers.ceiling.ready()]);
    const bench = { place, send, ...servers };
    const all = await connected(place.serverUrl, workloads);
    const chosen = BENCH_ONLY ? all.filter(({ key }) => BENCH_ONLY.split(',').includes(key)) : all;
    if (profiling) for (const workload of chosen) await profile(bench, workload);
    else await benchmark(bench, chosen, name);
  } finally {
    await Promise.all([servers.server.stop(), servers.ceiling.stop()]);
    await place.drop();
    rmSync(folder, { recursive: true });
  }
}

await main();
