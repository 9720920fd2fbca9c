import { setTimeout } from 'node:timers/promises';
import { account, statements } from './client.js';
import { started } from './process.js';
import { type Stage, webhooksOf } from './react.parts.js';
import { median } from './report.js';

/* Deliveries a second against a bare loop of SKIP LOCKED and undici (react.bare.ts), both with at most 40 under way to 40 endpoints. */

const { REACT_DELIVERIES = '3000' } = process.env;
const deliveries = Number(REACT_DELIVERIES);
const endpoints = 40;

const body = JSON.stringify({ event: 'contact.created', data: { firstName: 'Ada', text: 'x'.repeat(900) } });

/** Both sides of deliveries, in turn. */
export async function sending({ database, databaseUrl, api, worker, sink }: Stage, rounds: number): Promise<void> {
  const own = await account(api, 'sender');
  const webhooks = await webhooksOf(api, own, { count: endpoints }, sink);
  await database.query(`create table bare_deliveries (id uuid primary key, url text, body text, status text default 'pending',
    due_at timestamptz, attempt int default 0, leased_until timestamptz, response_status int)`);
  await database.query('create index on bare_deliveries (due_at) where due_at is not null');
  const mine = async () => {
    const before = await statements(worker);
    await database.query(
      `insert into webhook_deliveries (account_id, id, webhook_id, source_id, event_id, event, body, due_at, created_at, updated_at)
      select $1, gen_random_uuid(), w, w, gen_random_uuid(), 'contact.created', $3, now(), now(), now()
      from (select ($2::uuid[])[1 + n % $4] as w from generate_series(1, $5::int) n) x`,
      [own.id, webhooks, body, endpoints, deliveries],
    );
    const rate = await sink.rate(deliveries);
    await setTimeout(500);
    return { rate, sql: ((await statements(worker)) - before) / deliveries };
  };
  const bare = async () => {
    await database.query(
      `insert into bare_deliveries (id, url, body, due_at) select gen_random_uuid(), $1 || '/' || n % $2::int, $3, now()
      from generate_series(1, $4::int) n`,
      [sink.url, endpoints, body, deliveries],
    );
    const least = started({ name: 'the bare loop', port: 0, script: 'dist/test/bench/react.bare.js', env: { DATABASE_URL: databaseUrl } });
    const rate = await sink.rate(deliveries);
    await least.stop();
    return { rate, sql: 0 };
  };
  const seen = { mine: [] as number[], bare: [] as number[] };
  let sql = 0;
  await mine();
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? (['mine', 'bare'] as const) : (['bare', 'mine'] as const)) {
      const one = await (side === 'mine' ? mine() : bare());
      seen[side].push(one.rate);
      if (side === 'mine') sql = one.sql;
    }
  }
  const ratio = median(seen.mine.map((rate, n) => rate / seen.bare[n]!));
  console.log(
    `deliveries a second: ${median(seen.mine).toFixed(0)}, bare loop ${median(seen.bare).toFixed(0)}, ratio ${ratio.toFixed(2)}; ${sql.toFixed(2)} SQL each besides taking`,
  );
}
