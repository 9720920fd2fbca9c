import type { App, DueWork } from '../kernel/context/context.js';

/** So many of what waits are counted of a queue: further ones tell nobody anything new. */
export const mostCounted = 10_000;

/** What waits in a queue: how many, and for how many seconds the oldest has. */
export interface Waiting {
  queue: string;
  count: number;
  age: number;
}

const waits = 'd.due_at <= $1::timestamptz and (d.leased_until is null or d.leased_until <= now())';

/** The moments at which rows came due that nobody has taken, the oldest ones first, `most` at most; where it has sources, of each. */
function overdue({ table, sources }: DueWork, most: string): string {
  const oldest = `order by d.due_at limit ${most}`;
  if (!sources) return `select d.due_at from ${table} d where ${waits} ${oldest}`;
  const pair = `d.account_id, d.${sources}`;
  const next = `select d.account_id, d.${sources} as source from ${table} d where d.due_at is not null`;
  return `
    with recursive source as (
      (${next} order by ${pair} limit 1)
      union all
      select n.* from source s cross join lateral (${next} and (${pair}) > (s.account_id, s.source) order by ${pair} limit 1) n)
    select o.due_at from source s cross join lateral (
      select d.due_at from ${table} d where d.account_id = s.account_id and d.${sources} = s.source and ${waits} ${oldest}) o`;
}

/** How many there are, over all sources together; the oldest is the first of some source, counted or not. */
const waitingOf = ([name, due]: [string, DueWork]) => `
  select '${name}' as queue, (select count(*)::int from (select from (${overdue(due, '$2::int')}) w limit $2::int) c) as count,
    (select coalesce(extract(epoch from $1::timestamptz - min(w.due_at)), 0)::float8 from (${overdue(due, '1')}) w) as age`;

/** What has come due of every kind and is not being worked on, in one statement that reads by indexes what it counts. */
export async function waitingWork({ registry, database, clock }: App): Promise<Waiting[]> {
  const { rows } = await database.execute([...registry.due].map(waitingOf).join(' union all '), [clock.now().toISOString(), mostCounted]);
  return rows as Waiting[];
}
