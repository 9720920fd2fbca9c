import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  onPostgres,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let other: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  other = await api.seed.account({ name: 'Other' });
});
afterAll(() => api.close());

const bulk = (what: string, body: object, headers?: Record<string, string>) => acme.owner.post(`/bulk/contacts/${what}`, body, headers);
const done = async (what: string, body: object) => dataOf(await bulk(what, body));
const read = async (id: string) => dataOf(await acme.owner.get(`/contacts/${id}`));
const contacts = (n: number, fields: object = {}): Promise<Loose[]> =>
  Promise.all(Array.from({ length: n }, (_, i) => acme.contact({ firstName: `Person ${i}`, ...fields })));
const idsOf = (records: Loose[]): string[] => records.map((record) => record.id);

const toldBy = (work: () => Promise<unknown>) => toldIn(acme, work);

describe('POST /bulk/contacts/edit', () => {
  it('makes one change to all that are named', async () => {
    const some = await contacts(3);
    const ids = [...idsOf(some), idsOf(some)[0]!, crypto.randomUUID()];
    const changes = { source: 'fair', tags: ['Fair', 'fair 2'], customFields: { hall: 3 } };
    expect(await done('edit', { ids, changes })).toEqual({ total: 4, succeeded: 3, failed: 1 });
    for (const { id } of some) {
      const contact = await read(id);
      expect(contact).toMatchObject({ source: 'fair', customFields: { hall: 3 } });
      expect(contact.tags.map((tag: Loose) => tag.name)).toEqual(['Fair', 'fair 2']);
    }
  });

  it('makes it to all that a filter finds, as the list would', async () => {
    await contacts(4, { city: 'Lisbon' });
    await contacts(2, { city: 'Porto' });
    const filters = {
      and: [
        { field: 'city', value: 'Lisbon' },
        { field: 'firstName', op: 'in', value: ['Person 1', 'Person 2'] },
      ],
    };
    expect(await done('edit', { filters, changes: { masterStatus: 'customer' } })).toEqual({ total: 2, succeeded: 2, failed: 0 });
    expect(await done('edit', { filters: { field: 'city', value: 'Nowhere' }, changes: { zip: '1' } })).toEqual({
      total: 0,
      succeeded: 0,
      failed: 0,
    });
    const { data } = dataOf(await acme.owner.get('/contacts?master_status=customer'));
    expect(data.map((contact: Loose) => [contact.city, contact.firstName]).sort()).toEqual([['Lisbon', 'Person 1'], ['Lisbon', 'Person 2']]); // biome-ignore format: one line
  });

  it('refuses a change that no contact could take, and what names no contacts', async () => {
    const ids = idsOf(await contacts(2));
    await expectNothingWritten(api, async () => {
      for (const [body, field] of [
        [{ ids, changes: { email: 'no address' } }, 'changes.email'],
        [{ ids, changes: { assignedTo: other.ownerId } }, 'changes.assignedTo'],
        [{ ids, changes: { companyId: crypto.randomUUID() } }, 'changes.companyId'],
        [{ ids }, 'changes'],
        [{ filters: { field: 'nothing', value: 1 }, changes: {} }, 'filters.field'],
        [{ ids: [], changes: {} }, 'ids'],
        [{ ids, filters: { field: 'city', value: 'x' }, changes: {} }, 'ids'],
        [{ changes: {} }, 'ids'],
      ] as const) {
        const reply = await bulk('edit', body);
        expectRefusal(reply, 400);
        expect(reply.body.details?.[0].field).toBe(field);
      }
      const many = Array.from({ length: 501 }, () => crypto.randomUUID());
      expectRefusal(await bulk('edit', { ids: many, changes: {} }), 422);
    });
    expect(await done('edit', { ids: Array.from({ length: 500 }, () => crypto.randomUUID()), changes: {} })).toEqual({
      total: 500,
      succeeded: 0,
      failed: 500,
    });
  });
});

describe('POST /bulk/contacts/tag and /untag', () => {
  it('put an existing tag on and take it off, and tell only of contacts for which that is news', async () => {
    const tag = await acme.tag();
    const some = await contacts(3);
    await acme.owner.post(`/contacts/${some[0].id}/tags`, { tagId: tag.id });
    const body = { contactIds: [...idsOf(some), (await other.contact()).id], tagId: tag.id };
    const put = await toldBy(async () => expect(await done('tag', body)).toEqual({ total: 4, succeeded: 3, failed: 1 }));
    expect(put.events).toEqual([`contact.updated ${some[1].id}`, `contact.updated ${some[2].id}`].sort());
    expect(put.rows[0].changes).toEqual({ tags: { from: [], to: [tag.name] } });
    for (const { id } of some) expect((await read(id)).tags).toMatchObject([{ id: tag.id }]);
    const again = await toldBy(() => done('tag', body));
    expect(again.events).toEqual([]);

    const taken = await toldBy(async () => expect(await done('untag', body)).toEqual({ total: 4, succeeded: 3, failed: 1 }));
    expect(taken.events).toEqual(idsOf(some).map((id) => `contact.updated ${id}`).sort()); // biome-ignore format: one line
    for (const { id } of some) expect((await read(id)).tags).toEqual([]);
    expect((await toldBy(() => done('untag', body))).events).toEqual([]);
  });

  it('need a tag that exists', async () => {
    const contactIds = idsOf(await contacts(1));
    const unknown = [crypto.randomUUID(), (await other.tag()).id];
    await expectNothingWritten(api, async () => {
      for (const tagId of unknown) {
        for (const what of ['tag', 'untag']) expectRefusal(await bulk(what, { contactIds, tagId }), 400, 'tagId');
      }
    });
  });
});

describe('POST /bulk/contacts/do-not-contact', () => {
  it('marks contacts with the reason, and takes both off', async () => {
    const ids = idsOf(await contacts(2));
    await done('do-not-contact', { contactIds: ids, doNotContact: true, reason: 'Asked for it' });
    for (const id of ids) expect(await read(id)).toMatchObject({ doNotContact: true, doNotContactReason: 'Asked for it' });
    await done('do-not-contact', { contactIds: ids, doNotContact: true });
    expect(await read(ids[0]!)).toMatchObject({ doNotContact: true, doNotContactReason: 'Asked for it' });
    expect(await done('do-not-contact', { contactIds: ids, doNotContact: false })).toEqual({ total: 2, succeeded: 2, failed: 0 });
    for (const id of ids) expect(await read(id)).toMatchObject({ doNotContact: false, doNotContactReason: null });
  });
});

describe('POST /bulk/contacts/delete', () => {
  it('deletes each like DELETE, and tells of each', async () => {
    const some = await contacts(3);
    const ids = [...idsOf(some), idsOf(some)[0]!, 'nobody'];
    const told = await toldBy(async () => expect(await done('delete', { ids })).toEqual({ total: 4, succeeded: 3, failed: 1 }));
    expect(told.events).toEqual(idsOf(some).map((id) => `contact.deleted ${id}`).sort()); // biome-ignore format: one line
    for (const { id } of some) expect((await acme.owner.get(`/contacts/${id}`)).status).toBe(404);
    const total = async () => dataOf(await acme.owner.get('/contacts?limit=1')).meta.total;
    const before = await total();
    dataOf(await acme.owner.post(`/contacts/${some[0].id}/restore`));
    expect(await total()).toBe(before + 1);
  });
});

describe('a bulk request', () => {
  it('costs a handful of statements, however many contacts there are', async () => {
    const ids = idsOf(await contacts(100));
    const tag = await acme.tag();
    let n = 0;
    const counts = {
      update: await api.statements(() => done('update', { updates: ids.map((id, i) => ({ id, firstName: `N ${i} ${n++}` })) })),
      edit: await api.statements(() => done('edit', { ids, changes: { jobTitle: `Title ${n++}` } })),
      tag: await api.statements(async () => done(n++ % 2 ? 'tag' : 'untag', { contactIds: ids, tagId: tag.id })),
      'do-not-contact': await api.statements(() => done('do-not-contact', { contactIds: ids, doNotContact: n++ % 2 === 0 })),
    };
    expect(Math.max(...Object.values(counts))).toBeLessThanOrEqual(8);
  });

  it('that is sent again under its key answers the same and does nothing twice', async () => {
    const { id } = await acme.contact();
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const body = {
      updates: [
        { id, jobTitle: 'Once' },
        { id: 'nobody', jobTitle: 'Never' },
      ],
    };
    const first = await bulk('update', body, headers);
    const told = await toldBy(async () => {
      const second = await bulk('update', body, headers);
      expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
    });
    expect(told.events).toEqual([]);
  });

  it('may ask through the other API what came of each contact', async () => {
    const { id } = await acme.contact();
    const document =
      'mutation ($input: BulkDeleteContactsInput!) { bulkDeleteContacts(input: $input) { total failed results { recordId success code } } }';
    const { data } = await acme.owner.gql(document, { input: { ids: [id, 'nobody'] } });
    expect(data.bulkDeleteContacts).toEqual({
      ...{ total: 2, failed: 1 },
      results: [
        { recordId: id, success: true, code: null },
        { recordId: 'nobody', success: false, code: 'not_found' },
      ],
    });
  });
});

onPostgres(describe)('bulk requests at the same moment', () => {
  it('on the same contacts in any order end all, and lose nothing', async () => {
    const ids = idsOf(await contacts(40));
    const reversed = [...ids].reverse();
    const tags = [await acme.tag(), await acme.tag()];
    const replies = await Promise.all([
      ...tags.map((tag, i) => bulk('tag', { contactIds: i ? ids : reversed, tagId: tag.id })),
      bulk('edit', { ids: reversed, changes: { customFields: { a: 1 } } }),
      bulk('update', { updates: ids.map((id) => ({ id, customFields: { b: 2 } })) }),
      ...ids.slice(0, 5).map((id) => acme.owner.patch(`/contacts/${id}`, { customFields: { c: 3 } })),
    ]);
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    const [first] = await Promise.all(ids.slice(0, 1).map(read));
    expect(first.customFields).toEqual({ a: 1, b: 2, c: 3 });
    expect(first.tags).toHaveLength(2);
  });
});
