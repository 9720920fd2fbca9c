import { createHmac, randomBytes } from 'node:crypto';
import pg from 'pg';
import { Agent, request } from 'undici';

/** What deliveries cost at least: rows that are taken with SKIP LOCKED, sent signed, and settled one by one. Ends when none is left. */
const { DATABASE_URL, CONCURRENCY = '40' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const agent = new Agent();
const secret = randomBytes(32);

interface Row {
  id: string;
  url: string;
  body: string;
}

const take = `update bare_deliveries d set leased_until = now() + interval '30 s', attempt = attempt + 1
  where id in (select id from bare_deliveries where due_at <= now() and (leased_until is null or leased_until <= now())
    order by due_at limit $1 for update skip locked) returning id, url, body`;
const settle = `update bare_deliveries set status = 'delivered', due_at = null, leased_until = null, response_status = $2 where id = $1`;

async function send({ id, url, body }: Row): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'x-service-signature': createHmac('sha256', secret).update(body).digest('hex'),
    ...{ 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
  };
  const answer = await request(url, { method: 'POST', dispatcher: agent, headers, body });
  await answer.body.dump();
  await pool.query({ name: 'settle', text: settle, values: [id, answer.statusCode] });
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
await agent.close();
