import { setTimeout } from 'node:timers/promises';
import { backendTimes, spent } from './backends.js';
import { type Account, account, statements } from './client.js';
import { contactsOf, type Stage, webhooksOf, workflowOf } from './react.parts.js';
import { median } from './report.js';

/*
 * A hundred contacts a second are changed beside fifty requests a second. How long it takes from the event to the delivery of a webhook
 * and to the end of the run of a workflow; and how long the fifty take where nothing is changed, where nothing reacts, and where a
 * webhook and a workflow react to each change.
 */

const { REACT_LAG_SECONDS = '10' } = process.env;
const seconds = Number(REACT_LAG_SECONDS);
const [eventsASecond, requestsASecond, people] = [100, 50, 500];

const quantile = (values: number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};
const told = (values: number[]) => [0.5, 0.95, 0.99].map((share) => quantile(values, share).toFixed(1)).join(' / ');

/** Does something so often a second, whether what was begun has ended or not; milliseconds of each, from when it was to begin. */
async function paced(aSecond: number, work: (nth: number) => Promise<void>): Promise<number[]> {
  const [began, count] = [performance.now(), aSecond * seconds];
  const times: Promise<number>[] = [];
  for (let nth = 0; nth < count; nth++) {
    const due = began + (nth * 1000) / aSecond;
    const early = due - performance.now();
    if (early > 0) await setTimeout(early);
    times.push(work(nth).then(() => performance.now() - due));
  }
  return Promise.all(times);
}

interface Caller {
  url: string;
  own: Account;
  contacts: string[];
}

async function called(url: string, init: RequestInit): Promise<void> {
  const reply = await fetch(url, init);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${text}`);
}

/** What clients ask: mostly lists and single records; one in five creates a note. */
const asked = ({ url, own: { headers }, contacts }: Caller) => {
  const id = (nth: number) => contacts[nth % contacts.length]!;
  const json = { ...headers, 'content-type': 'application/json' };
  const kinds = [
    (nth: number) => called(`${url}/api/v1/contacts/${id(nth)}`, { headers }),
    () => called(`${url}/api/v1/contacts?per_page=25`, { headers }),
    (nth: number) => called(`${url}/api/v1/tasks?contact_id=${id(nth)}`, { headers }),
    () => called(`${url}/api/v1/deals?per_page=25`, { headers }),
    (nth: number) =>
      called(`${url}/api/v1/notes`, { method: 'POST', headers: json, body: JSON.stringify({ body: 'Hello', contactId: id(nth) }) }),
  ];
  return (nth: number) => kinds[nth % kinds.length]!(nth);
};

const changed = ({ url, own: { headers }, contacts }: Caller, mark: number) => {
  const json = { ...headers, 'content-type': 'application/json' };
  return (nth: number) => {
    const body = JSON.stringify({ city: `City ${mark} ${nth}` });
    return called(`${url}/api/v1/contacts/${contacts[nth % contacts.length]}`, { method: 'PATCH', headers: json, body });
  };
};

const sides = ['still', 'changing', 'reacting'] as const;
type Side = (typeof sides)[number];
const ofRuns = `select extract(epoch from completed_at - event_at)::float8 * 1000 as ms from workflow_runs
  where account_id = $1 and event_at >= $2 and status = 'success'`;

export async function lag({ database, databaseUrl, api, worker, sink }: Stage, rounds: number): Promise<void> {
  const [plain, busy] = [await account(api, 'plain'), await account(api, 'reacting')];
  const callerOf = async (own: Account): Promise<Caller> => ({ url: api.url, own, contacts: await contactsOf(database, own, people) });
  const callers = { still: await callerOf(plain), changing: await callerOf(plain), reacting: await callerOf(busy) };
  await webhooksOf(api, busy, { count: 1, events: ['contact.updated'] }, sink);
  await workflowOf(api, busy, 'Reacts', { event: 'contact.updated' });
  const deliveries: number[] = [];
  const runs: number[] = [];
  sink.heard = (body) => deliveries.push(Date.now() - new Date(JSON.parse(body).createdAt).getTime());
  let mark = 0;
  const costs: { sql: number; cpu: number }[] = [];
  const taken = async () => ({ sql: await statements(worker), cpu: worker.cpu() });
  const stored: Record<Side, number[]> = { still: [], changing: [], reacting: [] };
  const round = async (side: Side): Promise<number> => {
    const caller = callers[side];
    const since = new Date();
    const [atFirst, backends] = [await taken(), await backendTimes(database, databaseUrl)];
    const [before, events] = [deliveries.length, side === 'still' ? 0 : eventsASecond * seconds];
    const changing = events > 0 ? paced(eventsASecond, changed(caller, mark++)) : Promise.resolve([]);
    const times = await paced(requestsASecond, asked(caller));
    await changing;
    const keep = async () => stored[side].push(spent(backends, await backendTimes(database, databaseUrl)));
    if (side !== 'reacting') {
      await keep();
      return quantile(times, 0.95);
    }
    const ended = async () => (await database.query<{ ms: number }>(ofRuns, [busy.id, since])).rows.map(({ ms }) => ms);
    while (deliveries.length - before < events || (await ended()).length < events) await setTimeout(100);
    runs.push(...(await ended()));
    const atLast = await taken();
    await keep();
    costs.push({ sql: (atLast.sql - atFirst.sql) / events, cpu: (atLast.cpu - atFirst.cpu) / events });
    return quantile(times, 0.95);
  };
  for (const side of sides) await round(side);
  for (const list of [deliveries, runs, costs, ...Object.values(stored)]) list.length = 0;
  const seen = { still: [] as number[], changing: [] as number[], reacting: [] as number[] };
  for (let n = 0; n < rounds; n++) for (const side of n % 2 === 0 ? sides : sides.toReversed()) seen[side].push(await round(side));
  sink.heard = undefined;
  const ratio = (to: Side) => median(seen.reacting.map((p95, n) => p95 / seen[to][n]!)).toFixed(2);
  console.log(`${eventsASecond} events a second beside ${requestsASecond} requests, ms p50 / p95 / p99:`);
  console.log(`  from the event to the webhook ${told(deliveries)}, to the end of the run ${told(runs)}`);
  const p95 = sides.map((side) => `${side} ${median(seen[side]).toFixed(1)}`).join(', ');
  const [sql, cpu] = [costs.map((cost) => cost.sql), costs.map((cost) => cost.cpu)].map(median);
  console.log(`  the worker: ${sql!.toFixed(2)} SQL and ${cpu!.toFixed(2)} ms of its processor time an event`);
  const [still, changing, reacting] = sides.map((side) => median(stored[side]) / (eventsASecond * seconds)) as [number, number, number];
  console.log(
    `  PostgreSQL, ms an event: ${(changing - still).toFixed(2)} for the change, ${(reacting - changing).toFixed(2)} for who reacts`,
  );
  console.log(`  p95 of the requests: ${p95}; ratio ${ratio('changing')} of the same changes, ${ratio('still')} of none`);
}
