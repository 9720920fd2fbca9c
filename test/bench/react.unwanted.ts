import { setTimeout } from 'node:timers/promises';
import { backendTimes, spent } from './backends.js';
import { type Account, account, statements } from './client.js';
import { contactsOf, type Stage, webhooksOf } from './react.parts.js';
import { median } from './report.js';

/* What an event costs that no webhook wants, processor time of the servers and of PostgreSQL together, with few webhooks and with ten times as many. */

const { REACT_EVENTS = '3000' } = process.env;
const events = Number(REACT_EVENTS);
const [few, many, callers, people] = [20, 200, 16, 200];

const isBehind = `select exists (select from outbox_events e where e.account_id = $1 and not exists (
    select from feed_positions p where p.account_id = e.account_id and p.seq = e.seq))
  or exists (select from feed_readers r join feed_heads h using (account_id) where r.account_id = $1 and r.pos < h.pos) as waits`;

interface Cost {
  cpu: number;
  sql: number;
  rate: number;
}

/** Changes contacts of an account, and waits until the worker has seen it all. */
async function costOf({ database, databaseUrl, api, worker }: Stage, { id, headers }: Account, contacts: string[]): Promise<Cost> {
  const [backends, cpu, sql, began] = [
    await backendTimes(database, databaseUrl),
    api.cpu() + worker.cpu(),
    await statements(worker),
    performance.now(),
  ];
  let nth = 0;
  const caller = async () => {
    while (nth < events) {
      const body = JSON.stringify({ city: `City ${began} ${nth++}` });
      const url = `${api.url}/api/v1/contacts/${contacts[nth % contacts.length]}`;
      const reply = await fetch(url, { method: 'PATCH', headers: { ...headers, 'content-type': 'application/json' }, body });
      if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
      await reply.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const rate = (events / (performance.now() - began)) * 1000;
  while ((await database.query<{ waits: boolean }>(isBehind, [id])).rows[0]!.waits) await setTimeout(20);
  const whole = api.cpu() + worker.cpu() - cpu + spent(backends, await backendTimes(database, databaseUrl));
  return { cpu: whole / events, sql: ((await statements(worker)) - sql) / events, rate };
}

export async function unwanted(stage: Stage, rounds: number): Promise<void> {
  const { api, sink, database } = stage;
  const sides = {
    few: { own: await account(api, 'few'), contacts: [] as string[], count: few },
    many: { own: await account(api, 'many'), contacts: [] as string[], count: many },
  };
  for (const side of Object.values(sides)) {
    await webhooksOf(api, side.own, { count: side.count, events: ['deal.won', 'invoice.paid'] }, sink);
    side.contacts = await contactsOf(database, side.own, people);
    await costOf(stage, side.own, side.contacts);
  }
  const seen = { few: [] as Cost[], many: [] as Cost[] };
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? (['few', 'many'] as const) : (['many', 'few'] as const)) {
      seen[side].push(await costOf(stage, sides[side].own, sides[side].contacts));
    }
  }
  const ratio = median(seen.many.map(({ cpu }, n) => cpu / seen.few[n]!.cpu));
  const figure = (of: keyof Cost, digits: number) =>
    (['few', 'many'] as const).map((side) => median(seen[side].map((cost) => cost[of])).toFixed(digits)).join(' and ');
  console.log(
    `an event that none of ${few} and ${many} webhooks wants: ${figure('cpu', 2)} ms of processor time, ratio ${ratio.toFixed(2)}; ` +
      `${figure('sql', 2)} SQL of the worker, ${figure('rate', 0)} changes a second`,
  );
}
