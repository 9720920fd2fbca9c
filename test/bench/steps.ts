import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { Simulators } from '../support/simulators.js';
import { account, send, statements } from './client.js';
import { emptyDatabase } from './database.js';
import { freePort, ourServer, type Running, started } from './process.js';
import { median } from './report.js';

/*
 * npm run bench:steps: mails of a sequence a second, from the step that has come due to the mail that the server of the simulators has
 * taken, against a bare loop of SKIP LOCKED and nodemailer (steps.bare.ts), both with at most 16 under way.
 *
 *   STEPS              steps that are due in all, over the rounds (10000)
 *   STEPS_ROUNDS       rounds of each side, A B B A … (4)
 *   BENCH_DATABASE_URL PostgreSQL, as one who may make databases
 */
const { STEPS = '10000', STEPS_ROUNDS = '4' } = process.env;
const [steps, rounds] = [Number(STEPS), Number(STEPS_ROUNDS)];
/** The first one warms up. */
const each = Math.floor(steps / (rounds + 1));

interface Stage {
  database: pg.Client;
  databaseUrl: string;
  worker: Running;
  vendors: Simulators;
}

const contacts = `
insert into contacts (account_id, id, first_name, email, created_at, updated_at)
select $1::uuid, gen_random_uuid(), 'Ada', 'ada.' || n || '@steps.example', now(), now() from generate_series(1, $2::int) n returning id`;

/** Enrolls so many contacts; their first step is due tomorrow. */
async function enrolled(server: Running, database: pg.Client): Promise<void> {
  const { url } = server;
  const own = await account(server, 'sender');
  const { rows } = await database.query<{ id: string }>(contacts, [own.id, each * (rounds + 1)]);
  const step = { delayDays: 1, subject: 'Our offer for {{contact.firstName}}', body: 'Would you like to know more?' };
  const { data } = await send(`${url}/api/v1/emails/sequences`, { name: 'Bench', steps: [step] }, own.headers);
  const ids = rows.map(({ id }) => id);
  for (let from = 0; from < ids.length; from += 100) {
    await send(`${url}/api/v1/emails/sequences/${data.id}/enroll`, { contactIds: ids.slice(from, from + 100) }, own.headers);
  }
}

interface Spell {
  left: number;
  first: Date;
  last: Date;
}

/** Mails a second, from the first to the last of a round, once all are sent. */
async function rateOf(database: pg.Client, table: 'messages' | 'bare_steps', since: Date): Promise<number> {
  const text = `select count(*) filter (where sent_at is null)::int as left, min(sent_at) as first, max(sent_at) as last from ${table}
    where created_at >= $1`;
  for (;;) {
    await setTimeout(100);
    const { rows } = await database.query<Spell & { n: number }>(
      `select s.*, (select count(*)::int from ${table} where created_at >= $1) as n from (${text}) s`,
      [since],
    );
    const { left, first, last, n } = rows[0]!;
    if (n >= each && left === 0) return (each - 1) / ((last.getTime() - first.getTime()) / 1000);
  }
}

async function ours({ database, worker }: Stage): Promise<{ rate: number; sql: number }> {
  const before = await statements(worker);
  const since = new Date();
  await database.query(
    `update enrollments set due_at = now(), next_email_at = now() where id in (select id from enrollments where status = 'active' limit $1)`,
    [each],
  );
  const rate = await rateOf(database, 'messages', since);
  await setTimeout(500);
  return { rate, sql: ((await statements(worker)) - before) / each };
}

async function bare({ database, databaseUrl, vendors }: Stage): Promise<{ rate: number; sql: number }> {
  const since = new Date();
  await database.query(
    `insert into bare_steps (id, email, due_at, created_at)
    select gen_random_uuid(), 'bob.' || n || '@steps.example', now(), now() from generate_series(1, $1::int) n`,
    [each],
  );
  const env = { DATABASE_URL: databaseUrl, SMTP_URL: vendors.settings.SMTP_URL! };
  const least = started({ name: 'the bare loop', port: 0, script: 'dist/test/bench/steps.bare.js', env });
  const rate = await rateOf(database, 'bare_steps', since);
  await least.stop();
  return { rate, sql: 0 };
}

async function compare(stage: Stage): Promise<void> {
  const sides = { ours, bare };
  const seen = { ours: [] as number[], bare: [] as number[] };
  let sql = 0;
  await ours(stage);
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
      const one = await sides[side](stage);
      seen[side].push(one.rate);
      if (side === 'ours') sql = one.sql;
    }
  }
  const ratio = median(seen.ours.map((rate, n) => rate / seen.bare[n]!));
  console.log(
    `mails of sequences a second: ${median(seen.ours).toFixed(0)}, bare loop ${median(seen.bare).toFixed(0)}, ratio ${ratio.toFixed(2)}; ${sql.toFixed(2)} SQL each besides taking`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'steps-'));
const vendors = await Simulators.begin('http://127.0.0.1:9');
await emptyDatabase('crm_steps', async (databaseUrl) => {
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const env = { ...vendors.settings, DEFAULT_PLAN: 'enterprise' };
  const worker = ourServer({ port: await freePort(), databaseUrl, dataDir: folder, env });
  try {
    await worker.ready();
    await database.query(`create table bare_steps (id uuid primary key, email text, status text default 'pending', due_at timestamptz,
      attempt int default 0, leased_until timestamptz, sent_at timestamptz, created_at timestamptz)`);
    await database.query('create index on bare_steps (due_at) where due_at is not null');
    await enrolled(worker, database);
    await compare({ database, databaseUrl, worker, vendors });
  } finally {
    await database.end();
    await worker.stop();
    await vendors.end();
  }
});
rmSync(folder, { recursive: true });
