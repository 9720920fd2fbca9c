import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, onPostgres, server, type TestServer } from '../support/index.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

const prisma = () => api.app.database.prisma;

/** A company with so many contacts. */
async function companyOf(account: Account, contacts: number): Promise<string> {
  const { id: companyId } = await account.company();
  const [now, accountId] = [api.clock.now(), account.id];
  const data = Array.from({ length: contacts }, () => ({ accountId, id: api.clock.id(), firstName: 'Ada', companyId, createdAt: now, updatedAt: now })); // biome-ignore format: one line
  await prisma().contact.createMany({ data });
  return companyId;
}

/** Does something while an account has the turn to change very many records; `end` gives it back. */
function holding(account: Account): { end(): void } {
  let end = () => {};
  void api.app.longWrites.run(account.id, () => new Promise<void>((resolve) => (end = resolve)));
  return { end: () => end() };
}

/** Long enough for what has not to wait: each of these is answered in its turn. */
async function aWhile(account: Account): Promise<void> {
  for (let i = 0; i < 20; i++) await account.owner.get('/contacts?per_page=1');
}

const linked = (companyId: string) => prisma().contact.count({ where: { companyId } });
const eventsOf = (accountId: string, name: string) => prisma().outboxEvent.count({ where: { accountId, name } });

describe('what changes very many records at once', () => {
  it('waits for the turn of its account, tells once, and holds up neither what is less nor other accounts', async () => {
    const [acme, other] = [await api.seed.account(), await api.seed.account()];
    const [large, small, theirs] = [await companyOf(acme, 1100), await companyOf(acme, 900), await companyOf(other, 1100)];
    const { end } = holding(acme);
    let isAnswered = false;
    const waiting = acme.owner.del(`/companies/${large}`).finally(() => {
      isAnswered = true;
    });
    dataOf(await acme.owner.del(`/companies/${small}`));
    dataOf(await other.owner.del(`/companies/${theirs}`));
    expect([isAnswered, await linked(large), await linked(small), await linked(theirs)]).toEqual([false, 1100, 0, 0]);
    end();
    dataOf(await waiting);
    expect(await linked(large)).toBe(0);
    expect(await eventsOf(acme.id, 'contact.updated')).toBe(2000);
    expect(await eventsOf(acme.id, 'company.deleted')).toBe(2);
  });

  it('is counted over all fields of a document', async () => {
    const acme = await api.seed.account();
    const [one, two] = [await companyOf(acme, 600), await companyOf(acme, 600)];
    const { end } = holding(acme);
    const document =
      'mutation ($one: ID!, $two: ID!) { a: deleteCompany(id: $one) { deletedId } b: deleteCompany(id: $two) { deletedId } }';
    const waiting = acme.owner.gql(document, { one, two });
    await aWhile(acme);
    const kept = [await linked(one), await linked(two)];
    end();
    expect((await waiting).data).toEqual({ a: { deletedId: one }, b: { deletedId: two } });
    expect([kept, await linked(one), await linked(two)]).toEqual([[600, 600], 0, 0]);
  });

  it('is done once where it is asked twice under one Idempotency-Key while it waits', async () => {
    const acme = await api.seed.account();
    const id = await companyOf(acme, 1100);
    const { end } = holding(acme);
    const remove = () =>
      acme.owner.gql('mutation ($id: ID!) { deleteCompany(id: $id) { deletedId } }', { id }, { 'idempotency-key': 'long-write' });
    const both = Promise.all([remove(), remove()]);
    await aWhile(acme);
    expect(await linked(id)).toBe(1100);
    end();
    const done = { deleteCompany: { deletedId: id } };
    // Who finds the other one at work is told so.
    const replies = (await both).map(({ data, errors }) => data ?? errors?.[0].extensions.code);
    expect(replies).toContainEqual(done);
    expect(replies.filter((reply) => reply !== 'send_in_progress')).toEqual(replies.includes('send_in_progress') ? [done] : [done, done]);
    expect((await remove()).data).toEqual(done);
    expect(await eventsOf(acme.id, 'company.deleted')).toBe(1);
  });
});

describe('what has not the turn to change very many records', () => {
  it('locks no more than a thousand and one of them before it waits, in the order of their ids', async () => {
    const acme = await api.seed.account();
    const id = await companyOf(acme, 1500);
    const { end } = holding(acme);
    const waiting = acme.owner.del(`/companies/${id}`);
    await aWhile(acme);
    // Who locks a row leaves the number of the transaction in it, also where that was taken back.
    const { rows } = await api.app.database.execute(
      `select nth::int from (select xmax::text as locked, row_number() over (order by id) as nth from contacts where company_id = $1) c
      where locked <> '0' order by nth`,
      [id],
    );
    end();
    dataOf(await waiting);
    expect((rows as { nth: number }[]).map(({ nth }) => nth)).toEqual(Array.from({ length: 1001 }, (_, nth) => nth + 1));
    expect([await linked(id), await eventsOf(acme.id, 'contact.updated')]).toEqual([0, 1500]);
  });
});

describe('what a contact wrote', () => {
  it('waits for the turn of its account where it is very much, and all of it is read', async () => {
    const acme = await api.seed.account();
    const [now, accountId, { id: contactId }] = [api.clock.now(), acme.id, await acme.contact()];
    const row = {
      accountId,
      contactId,
      channel: 'sms',
      direction: 'inbound',
      status: 'received',
      body: 'Hi',
      createdAt: now,
      updatedAt: now,
    };
    await prisma().message.createMany({ data: Array.from({ length: 1100 }, () => ({ ...row, id: api.clock.id() })) });
    const { end } = holding(acme);
    let isRead = false;
    const reading = acme.owner.post(`/conversations/${contactId}/read`).finally(() => {
      isRead = true;
    });
    await aWhile(acme);
    const unread = () => prisma().message.count({ where: { contactId, readAt: null } });
    expect([isRead, await unread()]).toEqual([false, 1100]);
    end();
    expect([dataOf(await reading).unreadCount, await unread()]).toEqual([0, 0]);
    expect(await eventsOf(acme.id, 'message.updated')).toBe(1100);
  });
});

describe('a tag that very many carry', () => {
  const beside = 'mutation ($id: ID!) { deleteTag(id: $id) { deletedId } createTag(input: { name: "Beside" }) { name } }';

  /** A tag that so many contacts carry. */
  async function tagOf(account: Account, carriers: number): Promise<string> {
    const { id: tagId } = await account.tag('Many');
    const [now, accountId] = [api.clock.now(), account.id];
    const contacts = Array.from({ length: carriers }, () => ({ accountId, id: api.clock.id(), firstName: 'Ada', createdAt: now, updatedAt: now })); // biome-ignore format: one line
    await prisma().contact.createMany({ data: contacts });
    await prisma().contactTag.createMany({
      data: contacts.map((contact) => ({ accountId, contactId: contact.id, tagId, createdAt: now })),
    });
    return tagId;
  }

  it('goes beside another mutation too, in the turn of its account', async () => {
    const acme = await api.seed.account();
    const id = await tagOf(acme, 1100);
    const carrying = () => prisma().contactTag.count({ where: { tagId: id } });
    const { end } = holding(acme);
    const waiting = acme.owner.gql(beside, { id });
    await aWhile(acme);
    const before = await carrying();
    end();
    expect((await waiting).data).toEqual({ deleteTag: { deletedId: id }, createTag: { name: 'Beside' } });
    expect([before, await carrying()]).toEqual([1100, 0]);
  });

  onPostgres(it)('goes beside another mutation however long that takes', async () => {
    const acme = await api.seed.account();
    const id = await tagOf(acme, 1100);
    // Each statement is within the limit of all, and all of them take longer than other transactions may.
    await api.app.database.execute(`create function test_slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return null; end $$;
      create trigger test_slow after delete on contact_tags for each statement execute function test_slow()`);
    try {
      const { status, errors, data } = await acme.owner.gql(beside, { id });
      expect([status, errors, data]).toEqual([200, undefined, { deleteTag: { deletedId: id }, createTag: { name: 'Beside' } }]);
    } finally {
      await api.app.database.execute('drop trigger test_slow on contact_tags; drop function test_slow()');
    }
  });
});
