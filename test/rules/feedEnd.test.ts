import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { endOfFeed, readSoFar } from '../../src/kernel/events/readers.js';
import { allPlaced } from '../support/automations.js';
import { type Account, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** How many pages of the database a statement looks at. */
async function pagesOf({ text, values }: { text: string; values: unknown[] }): Promise<number> {
  const { rows } = await api.app.database.execute(`explain (analyze, buffers, format json) ${text}`, values);
  const { Plan: root } = (rows as { 'QUERY PLAN': Loose[] }[])[0]!['QUERY PLAN'][0]!;
  return root['Shared Hit Blocks'] + root['Shared Read Blocks'];
}

/** Events of the account that have their places, a copy of its last one each. */
async function placed(count: number): Promise<void> {
  const { execute } = api.app.database;
  const columns = 'account_id, name, names, entity_type, entity_id, data, actor_kind, created_at';
  await execute(
    `insert into outbox_events (id, ${columns}) select gen_random_uuid(), ${columns}
      from (select ${columns} from outbox_events where account_id = $1::uuid order by seq desc limit 1) e, generate_series(1, $2::int)`,
    [acme.id, count],
  );
  for (let left = count; left > 0; left -= 1000) await execute('select place_events(1000)');
  await allPlaced(acme);
  await execute('analyze outbox_events; analyze feed_positions');
}

it('where the feed ends, and how far a reader has come, is found the same however many events are kept', async () => {
  await acme.contact();
  const until = new Date();
  const pages = async () => [
    await pagesOf(endOfFeed.bind(acme.id, { names: ['contact.created'], except: [] })),
    await pagesOf(readSoFar.bind(acme.id, { reader: 'automations', event: 'contact.created', after: '0', until })),
  ];
  await placed(1000);
  const few = await pages();
  await placed(20_000);
  const many = await pages();
  for (const [nth, count] of many.entries()) expect(count).toBeLessThanOrEqual(few[nth]! * 1.25);
});
