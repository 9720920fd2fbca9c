import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type KeyClient, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

/** Whether reads wait while the account is at a read that takes long. */
async function waits(reads: (() => Promise<unknown>)[]): Promise<boolean[]> {
  let end = () => {};
  const held = api.app.longReads.run(acme.id, () => new Promise<void>((resolve) => (end = resolve)));
  const answered = reads.map(() => false);
  const all = reads.map(async (read, nth) => {
    await read();
    answered[nth] = true;
  });
  // Each of these is answered in its turn: what waits by then waits for the one that takes long.
  for (let i = 0; i < 20; i++) await key.get('/contacts?per_page=1');
  const seen = answered.map((isAnswered) => !isAnswered);
  end();
  await Promise.all([held, ...all]);
  return seen;
}

describe('a condition over long texts', () => {
  it('is a long read through either API, also where a relation leads to them; over short ones it is none', async () => {
    const { id } = await acme.contact({ firstName: 'Ann' });
    dataOf(await acme.owner.post('/notes', { body: 'Likes snow', contactId: id }));
    const asked = (where: string) => () => key.gql(`{ ${where} { totalCount } }`);
    const reads = [
      asked('notes(where: { body: { contains: "snow" } })'),
      asked('contacts(where: { notes: { some: { body: { starts_with: "Likes" } } } })'),
      asked('messages(where: { bodyHtml: { ends_with: "x" } })'),
      asked('contacts(where: { firstName: { contains: "nn" } })'),
      asked('notes(where: { body: { eq: "Likes snow" } })'),
    ];
    expect(await waits(reads)).toEqual([true, true, true, false, false]);
  });

  it('chooses what a bulk edit changes in the turn of long reads', async () => {
    const edit = (entity: string, filters: object) => async () =>
      dataOf(await acme.owner.post(`/bulk/${entity}/edit`, { filters, changes: { customFields: { a: 1 } } }));
    const body = { field: 'body', op: 'contains', value: 'never said' };
    const reads = [
      edit('contacts', { field: 'notes', op: 'some', value: body }),
      edit('deals', { field: 'contact', op: 'is', value: { field: 'notes', op: 'some', value: body } }),
    ];
    expect(await waits(reads)).toEqual([true, true]);
  });

  it('is over what is kept: the start of a body is shown, and neither compared nor grouped by', async () => {
    const members =
      '{ where: __type(name: "MessageWhere") { inputFields { name } } by: __type(name: "MessageGroupField") { enumValues { name } } }';
    const { where, by } = (await key.gql(members)).data;
    const names = [where.inputFields, by.enumValues].map((all: { name: string }[]) => all.map(({ name }) => name));
    expect(names).toEqual([expect.arrayContaining(['body', 'channel']), expect.arrayContaining(['channel'])]);
    expect(names.flat()).not.toContain('bodyStart');
    const read = await key.gql('{ messages(where: { bodyStart: { contains: "x" } }) { totalCount } }');
    expect(read.errors?.[0]?.message).toContain('bodyStart');
  });
});

/** Messages of a contact with texts of so many kilobytes, the first of them the oldest. */
async function wrote(many: number, kilobytes: number): Promise<string> {
  const { id: contactId } = await acme.contact();
  const [now, accountId, text] = [api.clock.now(), acme.id, 'x'.repeat(kilobytes * 1024)];
  const rows = Array.from({ length: many }, (_, nth) => ({
    ...{ accountId, contactId, id: api.clock.id(), channel: 'email', direction: 'inbound', status: 'received', subject: `No ${nth}` },
    ...{ body: text, bodyHtml: text, createdAt: new Date(now.getTime() + nth), updatedAt: now },
  }));
  for (let nth = 0; nth < many; nth += 5) await api.app.database.prisma.message.createMany({ data: rows.slice(nth, nth + 5) });
  return contactId;
}

const subjectsOf = (messages: { subject: string }[]) => messages.map(({ subject }) => subject);
const last = (few: number, many: number) => Array.from({ length: few }, (_, nth) => `No ${many - few + nth}`);

describe('the messages of a conversation', () => {
  it('are as many of the latest as have 8 MB together, in their order; all of them are in the list of messages', async () => {
    const id = await wrote(12, 500);
    const { messages, messageCount } = dataOf(await key.get(`/conversations/${id}`));
    expect([messageCount, subjectsOf(messages)]).toEqual([12, last(8, 12)]);
    const reply = await key.gql(`{ conversation(contactId: "${id}") { thread { subject } } }`);
    expect(subjectsOf(reply.data.conversation.thread)).toEqual(last(8, 12));
    expect(dataOf(await key.get(`/messages?contact_id=${id}`)).data).toHaveLength(12);
  });

  it('are read, and handed over in a merge, some at a time in the turn of the account, and each is told', async () => {
    const [id, kept] = [await wrote(120, 50), await acme.contact()];
    const read = () => key.post(`/conversations/${id}/read`);
    const merge = () => acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: id });
    for (const work of [read, merge]) {
      let end = () => {};
      const held = api.app.longWrites.run(acme.id, () => new Promise<void>((resolve) => (end = resolve)));
      const { events } = await toldIn(acme, async () => {
        let isDone = false;
        const doing = work().finally(() => {
          isDone = true;
        });
        for (let i = 0; i < 20; i++) await key.get('/contacts?per_page=1');
        expect(isDone).toBe(false);
        end();
        await held;
        dataOf(await doing);
      });
      expect(events.filter((event) => event.startsWith('message.updated'))).toHaveLength(120);
    }
    expect(dataOf(await key.get(`/conversations/${kept.id}`))).toMatchObject({ messageCount: 120, unreadCount: 0 });
  });
});

describe('lists of one document', () => {
  it('are one long read where their conditions have more than 200 values together', async () => {
    const asked = (values: number, document: string) => () => {
      const where = { or: Array.from({ length: values }, (_, n) => ({ jobTitle: { contains: `none ${n}` } })) };
      return key.gql(`query ($where: ContactWhere!) { ${document} }`, { where });
    };
    const two = 'a: contacts(where: $where) { totalCount } b: contacts(where: $where) { totalCount }';
    const nested = 'companies(first: 1) { nodes { a: contacts(where: $where) { totalCount } b: contacts(where: $where) { totalCount } } }';
    const one = 'contacts(where: $where) { totalCount }';
    expect(await waits([asked(150, two), asked(150, nested), asked(90, two), asked(150, one)])).toEqual([true, true, false, false]);
  });
});

describe('figures of all that ever happened', () => {
  it('are long reads: of sequences, and of automations and their nodes', async () => {
    const steps = [{ delayDays: 1, subject: 'Hello', body: 'Hello' }];
    const { id } = dataOf(await acme.owner.post('/emails/sequences', { name: 'S', steps }));
    const automation = dataOf(await acme.owner.post('/automations', { name: 'A', triggerEvent: 'contact.created' })).id;
    const paths = [`/emails/sequences/${id}/stats`, `/automations/${automation}/analytics`, `/automations/${automation}/node-stats`];
    const reads = paths.map((path) => async () => dataOf(await key.get(path)));
    const listed = () => key.gql('{ sequences { nodes { stats { sent } } } }');
    expect(await waits([...reads, listed])).toEqual([true, true, true, true]);
  });
});
