import nodemailer from 'nodemailer';
import pg from 'pg';

/** What the mails of a sequence cost at least: rows that are taken with SKIP LOCKED, sent, and settled one by one. Ends when none is left. */
const { DATABASE_URL, SMTP_URL, CONCURRENCY = '16' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const mailer = nodemailer.createTransport(SMTP_URL!, { pool: true } as object);

interface Row {
  id: string;
  email: string;
}

const take = `update bare_steps d set leased_until = now() + interval '30 s', attempt = attempt + 1
  where id in (select id from bare_steps where due_at <= now() and (leased_until is null or leased_until <= now())
    order by due_at limit $1 for update skip locked) returning id, email`;
const settle = `update bare_steps set status = 'sent', due_at = null, leased_until = null, sent_at = clock_timestamp() where id = $1`;

async function send({ id, email }: Row): Promise<void> {
  const about = { messageId: `<${id}@bench.example>`, from: 'bench@bench.example', to: email };
  await mailer.sendMail({ ...about, subject: 'Our offer', text: 'Would you like to know more?' });
  await pool.query({ name: 'settle', text: settle, values: [id] });
}

const running = new Set<Promise<void>>();
for (;;) {
  const free = Number(CONCURRENCY) - running.size;
  const { rows } = await pool.query<Row>({ name: 'take', text: take, values: [free] });
  if (rows.length === 0 && running.size === 0) break;
  for (const row of rows) {
    const sending: Promise<void> = send(row).finally(() => running.delete(sending));
    running.add(sending);
  }
  await Promise.race(running);
}
await pool.end();
mailer.close();
