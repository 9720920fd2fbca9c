import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { importsBy } from '../support/imports.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { codeBlocks } from '../support/readme.js';
import { aStep, Sequences } from '../support/sequences.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

let crm: TestServer;
let acme: Account;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
});
afterAll(() => crm.close());

const [, section = ''] = /^## Erasing a person\n([\s\S]*?)^## /m.exec(readFileSync('docs/security.md', 'utf8')) ?? [];
/** The statements of the document, in their order. */
const statements = codeBlocks('sql', section)
  .flatMap((block) => block.split(/;\n/))
  .filter((text) => text.trim() !== '');

/** Runs them for a contact. */
const erase = (id: string) =>
  crm.app.database.prisma.$transaction(
    async (tx) => {
      for (const text of statements) await tx.$executeRawUnsafe(text.replaceAll(":'contact'", `'${id}'`));
    },
    { timeout: 60_000, maxWait: 30_000 },
  );

const person = { firstName: 'Zoraida', lastName: 'Quillfeather', email: 'zoraida.quillfeather@example.com', phone: '+14155550177' };
const words = 'called Zoraida Quillfeather back';

/** The columns of the account, of whatever kind, in which the person's name, address or number stands. */
async function placesOf(account: Account): Promise<string[]> {
  const { execute } = crm.app.database;
  const { rows } = await execute(
    `select c.table_name as "table", c.column_name as "column" from information_schema.columns c
     join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name and t.table_type = 'BASE TABLE'
     where c.table_schema = 'public' and (c.data_type in ('text', 'character varying', 'json', 'jsonb', 'ARRAY'))
       and exists (select from information_schema.columns a
         where a.table_schema = c.table_schema and a.table_name = c.table_name and a.column_name = 'account_id')
     order by 1, 2`,
    [],
  );
  const found: string[] = [];
  for (const { table, column } of rows as { table: string; column: string }[]) {
    const text = `select 1 as one from "${table}" where account_id = $1::uuid and "${column}"::text ~* 'zoraida|quillfeather|4155550177' limit 1`;
    if ((await execute(text, [account.id])).rows.length > 0) found.push(`${table}.${column}`);
  }
  return found;
}

/** What is kept of the person without a contact: of a form that asks for no address, and of a call that was logged by its number. */
async function knownToNobody({ owner }: Account): Promise<void> {
  const fields = [{ key: 'name' }, { key: 'reach' }];
  const { id } = dataOf(await owner.post('/forms', { name: 'Reach us', fields }));
  const data = { name: 'Zoraida Quillfeather', reach: person.email };
  expect(dataOf(await owner.post(`/forms/${id}/submit`, { data, source: words }))).toMatchObject({ contactId: null });
  const call = { source: 'manual_log', notes: words, fromNumber: '+1 (415) 555-0177', toNumber: person.phone, direction: 'inbound' };
  expect(dataOf(await owner.post('/calls', call))).toMatchObject({ contactId: null });
}

/** Logs calls without a contact, each with its ends as its notes. */
async function logged({ owner }: Account, calls: [direction: string, fromNumber: string, toNumber: string][]): Promise<void> {
  for (const [direction, fromNumber, toNumber] of calls) {
    const call = { source: 'manual_log', notes: `${direction} ${fromNumber} ${toNumber}`, direction, fromNumber, toNumber };
    expect(dataOf(await owner.post('/calls', call))).toMatchObject({ contactId: null });
  }
}

/** Sends in a form that asks for no address, once with each answer. */
async function submitted({ owner }: Account, answers: string[]): Promise<void> {
  const { id } = dataOf(await owner.post('/forms', { name: 'Reach us', fields: [{ key: 'reach' }] }));
  for (const reach of answers)
    expect(dataOf(await owner.post(`/forms/${id}/submit`, { data: { reach } }))).toMatchObject({ contactId: null });
}

/** What is left of both: the notes of calls, and what was answered. */
async function leftOf({ id: accountId }: Account): Promise<string[]> {
  const { call, submission } = crm.app.database.prisma;
  const [calls, submissions] = [await call.findMany({ where: { accountId } }), await submission.findMany({ where: { accountId } })];
  const left = [...calls.map(({ notes }) => notes), ...submissions.map(({ data }) => (data as Loose).reach as string | undefined)];
  return left.filter((text) => typeof text === 'string').sort();
}

/** Deletes contacts of an account, and erases them. */
async function eraseAll({ owner }: Account, contacts: Loose[]): Promise<void> {
  for (const { id } of contacts) {
    dataOf(await owner.del(`/contacts/${id}`));
    await erase(id);
  }
}

/** A contact of whom much is known, deleted by now. */
async function someoneDeleted(): Promise<Loose> {
  const { owner } = acme;
  const key = await acme.key();
  dataOf(await key.post('/webhooks/manage', { url: 'http://127.0.0.1:9/', events: ['contact.created', 'contact.deleted'] }));
  const form = dataOf(await owner.post('/forms', { name: 'Contact us', fields: [{ key: 'email', label: 'E-mail', type: 'email' }] }));
  await knownToNobody(acme);
  const answer = { type: 'create_task', config: { title: 'Answer {{contact.email}}' } };
  const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created' }, actions: [answer] });
  const { id } = await acme.contact(person);
  // A row that makes nobody, since its number is none.
  const rows = [{ ...person, phone: 'none' }];
  expect(await importsBy(() => owner).imported({ rows })).toMatchObject({ errorCount: 1 });
  const about = { contactId: id };
  const [deal, moved] = [await acme.deal({ ...about, title: words }), await acme.task({ ...about, title: 'Call' })];
  await acme.task({ ...about, title: words });
  const pairs: [string, Loose][] = [
    ['/notes', { ...about, body: words }],
    ['/notes', { dealId: deal.id, body: words }],
    ['/calls', { ...about, source: 'manual_log', notes: words, fromNumber: person.phone, direction: 'inbound' }],
    ['/activities', { ...about, type: 'call', title: words, description: words }],
    [`/forms/${form.id}/submit`, { data: { email: person.email }, source: words }],
    ['/email/send', { ...about, subject: words, body: words }],
  ];
  for (const [path, body] of pairs) dataOf(await owner.post(path, body));
  await acme.invoice({ ...about, notes: words });
  await acme.appointment({ ...about, title: words });
  await new Sequences(acme, key).begin([aStep(1)], id);
  // What is told of it names both contacts.
  const other = await acme.contact();
  dataOf(await owner.patch(`/tasks/${moved.id}`, { contactId: other.id }));
  const { message, webhookDelivery } = crm.app.database.prisma;
  const accountId = acme.id;
  await eventually(async () => (await webhookDelivery.count({ where: { accountId } })) > 1);
  await eventually(async () => (await message.count({ where: { accountId, status: 'sent' } })) === 1);
  await endedRuns(acme, workflow, 2);
  dataOf(await owner.patch(`/contacts/${id}`, { optedOutEmail: true }));
  dataOf(await owner.del(`/contacts/${id}`));
  await eventually(async () => (await webhookDelivery.count({ where: { accountId, event: 'contact.deleted' } })) === 1);
  return { id, deal, form };
}

describe('erasing a person', () => {
  it('leaves their name, address and number nowhere but in the opt-out, and the account as readable as before', async () => {
    const { id, deal, form } = await someoneDeleted();
    const before = ['contacts.email', 'messages.body', 'notes.body', 'deals.title', 'calls.notes', 'submissions.data', 'invoices.notes'];
    const told = ['appointments.title', 'activities.title', 'outbox_events.data', 'webhook_deliveries.body', 'address_facts.address'];
    expect(await placesOf(acme)).toEqual(expect.arrayContaining([...before, ...told]));
    await erase(id);
    expect(await placesOf(acme)).toEqual(['address_facts.address']);
    const where = { accountId: acme.id, event: 'contact.deleted' };
    const waits = await crm.app.database.prisma.webhookDelivery.findFirstOrThrow({ where });
    expect(waits).toMatchObject({ status: 'pending', dueAt: expect.anything(), body: expect.stringContaining(id) });
    const lists = [
      'contacts',
      'deals',
      'tasks',
      'notes',
      'invoices',
      'calls',
      'activities',
      'messages',
      'events?after=0',
      'webhooks/manage',
    ];
    for (const path of [...lists, `deals/${deal.id}`, `forms/${form.id}/submissions`, 'emails/sequences', 'conversations'])
      expect([path, (await acme.owner.get(`/${path}`)).status]).toEqual([path, 200]);
    dataOf(await acme.owner.post(`/contacts/${id}/restore`));
    expect(dataOf(await acme.owner.get(`/contacts/${id}`))).toMatchObject({ firstName: null, email: null, phone: null });
    const again = await acme.contact({ firstName: 'Ann', email: person.email });
    const refused = await acme.owner.post('/email/send', { contactId: again.id, subject: 'News', body: 'Hello' });
    expect(refused.body.code).toBe('recipient_opted_out');
  });

  it('leaves a contact alone that is not deleted', async () => {
    const { id } = await acme.contact({ firstName: 'Bob' });
    await erase(id);
    expect(dataOf(await acme.owner.get(`/contacts/${id}`)).firstName).toBe('Bob');
    expect(statements.length).toBeGreaterThan(20);
  });
});

describe('erasing what was kept without a contact', () => {
  it('leaves what may be of somebody else, who has the number as well or spoke with us at it', async () => {
    const shop = await crm.seed.account();
    const [shared, own, other] = ['+14155550122', '+14155550133', '+14155550144'];
    const gone = [await shop.contact({ firstName: 'Ann', phone: shared }), await shop.contact({ firstName: 'Carl', phone: own })];
    await shop.contact({ firstName: 'Bob', phone: shared });
    await logged(shop, [
      ['inbound', shared, other],
      ['outbound', other, shared],
      ['inbound', other, own],
      ['outbound', own, other],
      ['inbound', own, other],
      ['outbound', other, own],
    ]);
    await submitted(shop, [shared, own]);
    await eraseAll(shop, gone);
    const calls = [`inbound ${shared} ${other}`, `outbound ${other} ${shared}`, `inbound ${other} ${own}`, `outbound ${own} ${other}`];
    expect(await leftOf(shop)).toEqual([...calls, shared].sort());
  });

  it('finds a number with blanks and brackets, and an address in capitals, but neither where it is written otherwise', async () => {
    const shop = await crm.seed.account();
    const ann = await shop.contact({ firstName: 'Ann', email: 'ann@example.com', phone: '+14155550122' });
    await logged(shop, [
      ['inbound', '+1 (415) 555-0122', '+14155550144'],
      ['inbound', '(415) 555-0122', '+14155550144'],
    ]);
    const missed = ['(415) 555-0122', '+1 415 555 0122', 'Mail: ann@example.com'];
    await submitted(shop, ['ANN@example.com', '+14155550122', ...missed]);
    await eraseAll(shop, [ann]);
    expect(await leftOf(shop)).toEqual(['inbound (415) 555-0122 +14155550144', ...missed].sort());
  });
});
