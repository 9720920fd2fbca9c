import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nilId } from '../../src/kernel/base/ids.js';
import { statements } from '../../src/kernel/database/statement.js';
import { type Account, dataOf, expectRefusal, type Loose, onPostgres, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Does something while every statement that changes rows of a table takes some seconds. */
async function whileSlow<T>(table: string, seconds: number, work: () => Promise<T>): Promise<T> {
  const execute = (text: string) => api.app.database.execute(text);
  await execute(`create function test_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); return null; end $$;
    create trigger test_slow after update on ${table} for each statement execute function test_slow()`);
  try {
    return await work();
  } finally {
    await execute(`drop trigger test_slow on ${table}; drop function test_slow()`);
  }
}

describe('the values of a deleted custom field', () => {
  it('go also where they are more than one job cleans', async () => {
    const account = await api.seed.account();
    const body = { entityType: 'contact', fieldKey: 'many', label: 'Many', fieldType: 'text' };
    const { id } = dataOf(await account.owner.post('/custom-fields', body));
    const [now, accountId, most] = [api.clock.now(), account.id, 5100];
    const data = Array.from({ length: most }, (_, n) => ({ accountId, id: api.clock.id(), customFields: { many: 'x', other: n }, createdAt: now, updatedAt: now })); // biome-ignore format: one line
    await api.app.database.prisma.contact.createMany({ data });
    const confirmed = { confirmImpact: true, expectedValueCount: most, expectedDependencyCount: 0 };
    const { cleanupJobId } = dataOf(await account.owner.del(`/custom-fields/${id}`, confirmed));
    const stand = async () =>
      (await account.owner.gql(`{ customFieldCleanup(id: "${cleanupJobId}") { status cleanedCount } }`)).data.customFieldCleanup;
    await eventually(async () => (await stand()).status === 'completed');
    expect((await stand()).cleanedCount).toBe(most);
    const left = await api.app.database.prisma.contact.findMany({ where: { accountId }, select: { customFields: true } });
    expect(new Set(left.flatMap(({ customFields }) => Object.keys(customFields as object)))).toEqual(new Set(['other']));
  });
});

/** The most rows of a table that one part of a plan has read, those included that it left out. */
function mostRead(node: Loose, table: string): number {
  const read = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const inner: number[] = (node.Plans ?? []).map((one: Loose) => mostRead(one, table));
  return Math.max(node['Relation Name'] === table ? read : 0, ...inner);
}

describe('a look for the values of a custom field', () => {
  it('goes over 5,000 records at a time, whether they have one or not', async () => {
    const { id: accountId } = await api.seed.account();
    const now = api.clock.now();
    const ids = Array.from({ length: 5010 }, () => api.clock.id()).sort();
    const data = ids.map((id, n) => ({ accountId, id, customFields: n === 5009 ? { rare: 'x' } : { other: n }, createdAt: now, updatedAt: now })); // biome-ignore format: one line
    await api.app.database.prisma.contact.createMany({ data });
    const look = async (name: string, after: string) => {
      const { text, values } = statements.get(`${name} contacts`)!.bind(accountId, { key: 'rare', after } as never);
      return (await api.app.database.execute(text, values)).rows;
    };
    const half = ids[4999]!;
    for (const name of ['countCustomField', 'removeCustomField']) {
      expect(await look(name, nilId)).toEqual([{ count: 0, last: half }]);
      expect(await look(name, half)).toEqual([{ count: 1, last: null }]);
    }
    expect(await look('countCustomField', half)).toEqual([{ count: 0, last: null }]);
  });

  it('reads no more of them than it cleans where all have one', async () => {
    const { id: accountId } = await api.seed.account();
    const [now, { execute, prisma }] = [api.clock.now(), api.app.database];
    const common = { accountId, createdAt: now, updatedAt: now };
    const data = Array.from({ length: 5010 }, (_, n) => ({ ...common, id: api.clock.id(), customFields: { dense: n } }));
    await prisma.contact.createMany({ data });
    await execute('analyze contacts');
    const { text, values } = statements.get('removeCustomField contacts')!.bind(accountId, { key: 'dense', after: nilId } as never);
    const { rows } = await execute(`explain (analyze, format json) ${text}`, values);
    const { Plan: root } = (rows as { 'QUERY PLAN': Loose[] }[])[0]!['QUERY PLAN'][0]!;
    expect(mostRead(root, 'contacts')).toBe(200);
  });
});

describe('DELETE /companies/{id}', () => {
  it('is told by each of very many contacts', async () => {
    const [{ id: companyId }, other] = [await acme.company(), await acme.company()];
    const [now, accountId] = [api.clock.now(), acme.id];
    const data = Array.from({ length: 1100 }, () => ({ accountId, id: api.clock.id(), firstName: 'Ada', companyId, createdAt: now, updatedAt: now })); // biome-ignore format: one line
    await api.app.database.prisma.contact.createMany({ data });
    const near = await acme.contact({ firstName: 'Bea', companyId: other.id });
    dataOf(await acme.owner.del(`/companies/${companyId}`));
    const { prisma } = api.app.database;
    expect(await prisma.contact.count({ where: { accountId, companyId } })).toBe(0);
    const where = { accountId, entityId: { in: data.map(({ id }) => id) }, name: 'contact.updated' };
    const events = await prisma.outboxEvent.findMany({ where, select: { entityId: true, changes: true } });
    expect(new Set(events.map(({ entityId }) => entityId)).size).toBe(1100);
    expect(events.map(({ changes }) => changes)).toEqual(data.map(() => ({ companyId: { from: companyId, to: null } })));
    expect(dataOf(await acme.owner.get(`/contacts/${near.id}`)).companyId).toBe(other.id);
  });
});

/** Does something while no statement may change more than a thousand rows of a table. */
async function fewAtOnce<T>(table: string, work: () => Promise<T>): Promise<T> {
  const execute = (text: string) => api.app.database.execute(text);
  await execute(`create function few_at_once() returns trigger language plpgsql as $$ begin
    if (select count(*) from new_rows) > 1000 then raise 'too many at once'; end if; return null; end $$;
    create trigger few_at_once after update on ${table} referencing new table as new_rows for each statement execute function few_at_once()`);
  try {
    return await work();
  } finally {
    await execute(`drop trigger few_at_once on ${table}; drop function few_at_once()`);
  }
}

describe('POST /contacts/merge', () => {
  it('hands over very many activities, a portion a statement', async () => {
    const [kept, gone] = [await acme.contact({ firstName: 'Kept' }), await acme.contact({ firstName: 'Gone' })];
    const { prisma } = api.app.database;
    const data = Array.from({ length: 2100 }, () => ({ accountId: acme.id, id: api.clock.id(), contactId: gone.id, type: 'note', title: 'Noted', createdAt: api.clock.now() })); // biome-ignore format: one line
    await prisma.activity.createMany({ data });
    const merge = () => acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id });
    dataOf(await fewAtOnce('activities', merge));
    const of = (contactId: string) => prisma.activity.count({ where: { accountId: acme.id, contactId, title: 'Noted' } });
    expect([await of(gone.id), await of(kept.id)]).toEqual([0, data.length]);
  });

  it('hands over very many invoices, a portion a statement, each with its lines in what it tells', async () => {
    const account = await api.seed.account();
    const [kept, gone] = [await account.contact({ firstName: 'Kept' }), await account.contact({ firstName: 'Gone' })];
    const [first, other] = [await account.invoice({ contactId: gone.id }), await account.invoice({ contactId: kept.id })];
    const { database } = api.app;
    const columns = (await database.execute('select * from invoices where id = $1', [first.id])).rows[0] as object;
    const copied = Object.keys(columns).filter((name) => !['id', 'invoice_number'].includes(name));
    await database.execute(
      `insert into invoices (id, invoice_number, ${copied}) select gen_random_uuid(), 'Copy ' || n, ${copied}
       from invoices, generate_series(2, 2100) n where id = $1`,
      [first.id],
    );
    const merge = () => account.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id });
    dataOf(await fewAtOnce('invoices', merge));
    const of = (contactId: string) => database.prisma.invoice.count({ where: { accountId: account.id, contactId } });
    expect([await of(gone.id), await of(kept.id)]).toEqual([0, 2101]);
    const events = await database.prisma.outboxEvent.findMany({ where: { accountId: account.id, name: 'invoice.updated' } });
    expect(new Set(events.map(({ entityId }) => entityId)).size).toBe(2100);
    expect(events.map(({ changes }) => changes)).toEqual(Array(2100).fill({ contactId: { from: gone.id, to: kept.id } }));
    expect(events.find(({ entityId }) => entityId === first.id)!.data).toMatchObject({
      items: first.items,
      contact: { firstName: 'Kept' },
    });
    expect(events.some(({ entityId }) => entityId === other.id)).toBe(false);
  });
});

/** Does something while every statement of a kind notes what holds then. */
async function whileNoting(statements: string, what: string, work: () => Promise<unknown>): Promise<{ n: number }[]> {
  const execute = (text: string) => api.app.database.execute(text);
  await execute(`create table test_notes (nth serial, n integer);
    create function test_note() returns trigger language plpgsql as $$ begin insert into test_notes (n) ${what}; return null; end $$;
    create trigger test_note after ${statements} for each statement execute function test_note()`);
  try {
    await work();
    return (await execute('select n from test_notes order by nth')).rows as { n: number }[];
  } finally {
    await execute('drop function test_note() cascade; drop table test_notes');
  }
}

const many = 3100;

/** Deletes a company of very many contacts while something is noted; `{company}` there is its id. */
async function deleted(statements: string, what: string): Promise<{ account: Account; companyId: string; notes: number[] }> {
  const account = await api.seed.account();
  const { id: companyId } = await account.company();
  const [now, accountId] = [api.clock.now(), account.id];
  const data = Array.from({ length: many }, () => ({ accountId, id: api.clock.id(), firstName: 'Ada', companyId, createdAt: now, updatedAt: now })); // biome-ignore format: one line
  await api.app.database.prisma.contact.createMany({ data });
  const remove = async () => dataOf(await account.owner.del(`/companies/${companyId}`));
  const notes = await whileNoting(statements, what.replace('{company}', companyId), remove);
  return { account, companyId, notes: notes.map(({ n }) => n) };
}

describe('what changes records without a limit to their number', () => {
  onPostgres(it)('may take longer than other operations, with an Idempotency-Key as without', async () => {
    const account = await api.seed.account();
    const remove = async (headers: Record<string, string>) => {
      const { id: companyId } = await account.company();
      const [now, accountId] = [api.clock.now(), account.id];
      const data = Array.from({ length: 2200 }, () => ({ accountId, id: api.clock.id(), firstName: 'Ada', companyId, createdAt: now, updatedAt: now })); // biome-ignore format: one line
      await api.app.database.prisma.contact.createMany({ data });
      const document = 'mutation ($id: ID!) { deleteCompany(id: $id) { deletedId } }';
      // Longer in all than other transactions may take, though each statement is within the limit of all.
      const reply = await whileSlow('contacts', 2, () => account.owner.gql(document, { id: companyId }, headers));
      expect([reply.status, reply.errors, reply.data]).toEqual([200, undefined, { deleteCompany: { deletedId: companyId } }]);
      expect(await api.app.database.prisma.contact.count({ where: { accountId, companyId } })).toBe(0);
    };
    await remove({});
    await remove({ 'idempotency-key': 'takes-long' });
  });
});

describe('what is told of very many records', () => {
  it('is written at the end, in order, and not kept in memory until then', async () => {
    const left = `select count(*) from contacts where company_id = '{company}'`;
    const { account, companyId, notes } = await deleted('insert on outbox_events', left);
    expect(notes).toEqual([0, 0, 0, 0]);
    const { prisma } = api.app.database;
    const [accountId, name] = [account.id, { in: ['contact.updated', 'company.deleted'] }];
    const events = await prisma.outboxEvent.findMany({ where: { accountId, name }, orderBy: { seq: 'asc' } });
    expect(events).toHaveLength(many + 1);
    expect(events.at(-1)).toMatchObject({ name: 'company.deleted', entityId: companyId });
    expect(events.every(({ id, changeId }) => changeId === id)).toBe(true);
    const ids = events.slice(0, many).map(({ entityId }) => entityId);
    for (let from = 0; from < many; from += 1000) expect(ids.slice(from, from + 1000).sort()).toEqual(ids.toSorted().slice(from, from + 1000)); // biome-ignore format: one line
    expect(await prisma.activity.count({ where: { accountId, type: 'contact.updated' } })).toBe(many);
    expect(await prisma.activity.count({ where: { accountId, type: 'company.deleted' } })).toBe(1);
  });

  it('holds up the feeds of nobody until then', async () => {
    // Who writes events holds this lock from the first one to his end, and the places of later ones wait for it.
    const writers = `select count(*) from pg_locks where relation = 'outbox_events'::regclass and mode = 'RowExclusiveLock'
      and pid = pg_backend_pid()`;
    const { notes } = await deleted('update on contacts', writers);
    expect(notes.length).toBeGreaterThanOrEqual(4);
    expect(notes.slice(0, 4)).toEqual([0, 0, 0, 0]);
  });

  it('leaves nothing where it is taken back', async () => {
    const account = await api.seed.account();
    const { id: companyId } = await account.company();
    const [now, accountId] = [api.clock.now(), account.id];
    const data = Array.from({ length: 1100 }, () => ({ accountId, id: api.clock.id(), firstName: 'Ada', companyId, createdAt: now, updatedAt: now })); // biome-ignore format: one line
    const { prisma } = api.app.database;
    await prisma.contact.createMany({ data });
    const document = `mutation ($id: ID!) { deleteCompany(id: $id) { deletedId } updateTag(id: "${api.clock.id()}", input: {}) { name } }`;
    expect((await account.owner.gql(document, { id: companyId })).errors).toHaveLength(1);
    const where = { accountId, name: { in: ['contact.updated', 'company.deleted'] } };
    expect([await prisma.outboxEvent.count({ where }), await prisma.contact.count({ where: { companyId } })]).toEqual([0, 1100]);
    dataOf(await account.owner.del(`/companies/${companyId}`));
    expect(await prisma.outboxEvent.count({ where })).toBe(1101);
  });
});

describe('PATCH /companies/{id}', () => {
  it('keeps a company from being above itself, however many are between', async () => {
    const [now, accountId] = [api.clock.now(), acme.id];
    const ids = Array.from({ length: 130 }, () => api.clock.id());
    const rows = ids.map((id, n) => ({ accountId, id, name: 'Chained', parentCompanyId: ids[n - 1] ?? null, createdAt: now, updatedAt: now })); // biome-ignore format: one line
    await api.app.database.prisma.company.createMany({ data: rows });
    expectRefusal(await acme.owner.patch(`/companies/${ids[0]}`, { parentCompanyId: ids.at(-1) }), 422, 'parentCompanyId');
  });
});
