import { checkSame } from './check.js';
import { type Bench, Contestant } from './contestant.js';
import { options } from './options.js';
import { type Figures, figures } from './report.js';
import type { Workload, Yardstick } from './workloads.js';

/** What a contestant answers to the samples, and which rows that leaves behind. */
async function outcomeOf(contestant: Contestant, isWriting = false) {
  if (!isWriting) return { ...(await contestant.answers()), newest: [], made: {} };
  const before = await contestant.traces();
  const { bodies, bytes } = await contestant.answers();
  const { newest, counts } = await contestant.traces();
  const made = Object.fromEntries(Object.entries(counts).map(([table, n]) => [table, n - before.counts[table]!]));
  return { bodies, bytes, newest, made };
}

/** That a yardstick does the same work: the same answers, the same rows. */
async function checkWork(workload: Workload, server: Contestant, rivals: [Yardstick, Contestant][]): Promise<number> {
  const { key, isWriting, differing, comparable = (body: never) => body } = workload;
  const ours = await outcomeOf(server, isWriting);
  for (const [{ name, side, hasOtherAnswers }, contestant] of rivals) {
    const theirs = await outcomeOf(contestant, isWriting);
    const what = `${key} and ${name}`;
    checkSame(`${what}, rows`, [ours.made], [theirs.made]);
    if (hasOtherAnswers) continue;
    const bodies = side === 'other' ? ours.bodies : ours.bodies.map((body) => comparable(body as never));
    checkSame(what, bodies, theirs.bodies, differing);
    checkSame(`${what}, rows`, ours.newest, theirs.newest, differing);
  }
  return ours.bytes;
}

/** The rounds of a workload, interleaved A B C C B A …; those of a round begin with the same request where nothing is written. */
export async function measure(bench: Bench, workload: Workload): Promise<Figures[]> {
  const server = new Contestant(bench, 'server', workload.calls, workload.isOnce);
  const rivals = workload.yardsticks.map((yardstick): [Yardstick, Contestant] => [
    yardstick,
    new Contestant(bench, yardstick.side, yardstick.calls ?? workload.calls, workload.isOnce),
  ]);
  const bytes = await checkWork(workload, server, rivals);
  const statements = [await server.statements()];
  for (const [, contestant] of rivals) statements.push(await contestant.statements());
  const all = [server, ...rivals.map(([, contestant]) => contestant)];
  for (const contestant of all) await contestant.warm();
  for (let i = 0; i < options.rounds; i++) {
    for (const contestant of i % 2 === 0 ? all : all.toReversed()) {
      await contestant.measure(options.seconds, workload.isWriting ? undefined : i * 5003);
    }
  }
  const [own, ...theirs] = statements;
  const common = { workload, server: server.rounds, statements: own!, bytes };
  if (rivals.length === 0) return [figures(common)];
  return rivals.map(([yardstick, { rounds }], i) => figures({ ...common, rival: { yardstick, rounds, statements: theirs[i]! } }));
}
