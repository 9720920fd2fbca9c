import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import { Client } from '../support/client.js';
import { dataOf, isPostgres, onPostgres, password, type Reply } from '../support/index.js';

jest.setTimeout(120_000);

/** Does something while a transaction from outside holds what the account's requests wait for. */
async function whileHeld(crm: Alone, holding: string, work: () => Promise<void>): Promise<void> {
  const holder = new pg.Client(crm.databaseUrl);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query(holding);
    await work();
  } finally {
    await holder.end();
  }
}

let crm: Alone;
/** Somebody of another account. */
let other: Client;
let tags = 0;

beforeAll(async () => {
  if (!isPostgres) return;
  crm = await Alone.begin({ DATABASE_POOL: '8', RATE_LIMIT_ENABLED: '0' });
  other = new Client(crm.wire);
  dataOf(await other.post('/auth/register', { email: 'other@example.com', password, accountName: 'Other' }));
  // What a first request loads is not what is looked at.
  await Promise.all([other.get('/tags?search=x'), other.post('/tags', { name: 'First' })]);
});
afterAll(() => crm?.end());

/** Where nothing is left to them, they wait for two seconds and are refused. */
async function expectOthersServed(): Promise<void> {
  for (let n = 0; n < 5; n++) {
    const replies = [await other.get('/tags?search=x'), await other.get('/tags'), await other.post('/tags', { name: `Tag ${++tags}` })];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 201]);
  }
}

/** What waited is done once it may be, or refused: never anything else. */
async function expectDoneOrRefused(waiting: Promise<{ status: number }>[]): Promise<void> {
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  expect([...new Set(statuses)].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses).toContain(503);
}

onPostgres(describe)('an account whose requests all wait', () => {
  const contactsOf = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, async (_, n) => dataOf(await crm.caller.post('/contacts', { firstName: `C${n}` })).id));
  const rowOf = (id: string | undefined) => `select 1 from contacts where id = '${id}' for update`;

  it('for a row that they merge into keeps no connection from the others', async () => {
    const [first, ...contacts] = await contactsOf(25);
    let waiting: Promise<Reply>[] = [];
    await whileHeld(crm, rowOf(first), async () => {
      waiting = contacts.map((secondaryId) => crm.caller.post('/contacts/merge', { primaryId: first, secondaryId }));
      await expectOthersServed();
    });
    await Promise.all(waiting);
  });

  it('for a row that each changes in another way keeps no connection from the others', async () => {
    const [id] = await contactsOf(1);
    const fields = ['firstName', 'lastName', 'jobTitle', 'addressLine1', 'addressLine2', 'city'];
    // Each set of columns is another statement.
    const bodies = fields.flatMap((one, n) => fields.slice(n).map((other) => ({ [one]: 'A', [other]: 'B' })));
    let waiting: Promise<Reply>[] = [];
    await whileHeld(crm, rowOf(id), async () => {
      waiting = bodies.map((body) => crm.caller.patch(`/contacts/${id}`, body));
      await expectOthersServed();
    });
    await Promise.all(waiting);
  });

  it.each(['/products', '/products?search=something'])('for what it reads keeps no connection from the others: %s', async (path) => {
    let waiting: Promise<Reply>[] = [];
    await whileHeld(crm, 'lock table products in access exclusive mode', async () => {
      waiting = Array.from({ length: 25 }, () => crm.caller.get(path));
      await expectOthersServed();
      await expectDoneOrRefused(waiting);
    });
  });
});

onPostgres(describe)('an account whose documents about one record all wait', () => {
  it.each([
    {
      what: 'a page',
      root: 'contact',
      path: '/contacts',
      of: { firstName: 'Ada' },
      table: 'notes',
      selection: 'notes(first: 1) { totalCount }',
    },
    { what: 'a count', root: 'callFlow', path: '/call-flows', of: { name: 'Desk' }, table: 'calls', selection: 'callsToday' },
  ])('for $what within it, by many texts, keeps no connection from the others', async ({ root, path, of, table, selection }) => {
    const { id } = dataOf(await crm.caller.post(path, of));
    // By such a statement the server finds whose key it has not seen yet.
    const { key } = dataOf(await other.post('/api-keys', { name: `To read ${table}`, permission: 'admin' }));
    const unseen = new Client(crm.wire, { authorization: `Bearer ${key}` });
    const document = (n: number) => `{ ${root}(id: "${id}") { of${n}: ${selection} } }`;
    await whileHeld(crm, `lock table ${table} in access exclusive mode`, async () => {
      const waiting = Array.from({ length: 25 }, (_, n) => crm.caller.gql(document(n)));
      await expectOthersServed();
      expect((await unseen.get('/tags')).status).toBe(200);
      await expectDoneOrRefused(waiting);
    });
  });
});
