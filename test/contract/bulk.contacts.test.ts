import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
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

const toldBy = (work: () => Promise<unknown>) => toldIn(acme, work);

describe('POST /bulk/contacts/update', () => {
  it('changes each contact in its own way and says what came of it, in the order of the request', async () => {
    const [ada, bob, eve] = await contacts(3, { customFields: { plan: 'gold' } });
    const updates = [
      { id: bob.id, email: ' Bob@Example.com ', phone: '(415) 555-0123', optedOutSms: true },
      { id: ada.id, customFields: { seats: 2 }, assignedTo: acme.ownerId },
      { id: eve.id, lastName: 'Last', firstName: null },
    ];
    expect(await done('update', { updates })).toEqual({
      summary: { total: 3, succeeded: 3, failed: 0 },
      results: updates.map(({ id }) => ({ id, success: true, error: null, code: null, field: null })),
    });
    expect(await read(bob.id)).toMatchObject({ email: 'Bob@Example.com', phone: '+14155550123', optedOutSms: true });
    expect(await read(ada.id)).toMatchObject({ customFields: { plan: 'gold', seats: 2 }, assignedTo: acme.ownerId });
    expect(await read(eve.id)).toMatchObject({ firstName: null, lastName: 'Last' });
  });

  it('lets no contact suffer from another: what is wrong with one is told of it alone', async () => {
    const [ada, bob, eve] = await contacts(3);
    const theirs = await other.contact();
    const gone = await acme.contact();
    dataOf(await acme.owner.del(`/contacts/${gone.id}`));
    const strangers = [theirs.id, gone.id, crypto.randomUUID(), 'not an id'];
    const updates = [
      { id: ada.id, firstName: 'Good' },
      { id: bob.id, email: 'no address', firstName: 'Bad' },
      ...strangers.map((id) => ({ id, firstName: 'Nobody' })),
      { id: eve.id, firstName: 'Unassigned', assignedTo: other.ownerId },
      { id: bob.id, phone: '12', customFields: { a: 1 } },
      { id: eve.id, jobTitle: 'Engineer' },
    ];
    const { summary, results } = await done('update', { updates });
    expect(summary).toEqual({ total: 9, succeeded: 2, failed: 7 });
    expect(results.map((r: Loose) => [r.success, r.code, r.field])).toEqual([
      [true, null, null],
      [false, 'invalid_request', 'email'],
      ...strangers.map(() => [false, 'not_found', null]),
      [false, 'invalid_request', 'assignedTo'],
      [false, 'invalid_request', 'phone'],
      [true, null, null],
    ]);
    expect(results[1].error).toBe('email must be an e-mail address');
    expect(new Set(results.slice(2, 6).map((r: Loose) => r.error))).toEqual(new Set(['Contact not found']));
    expect(await read(ada.id)).toMatchObject({ firstName: 'Good' });
    expect(await read(bob.id)).toEqual(bob);
    expect(await read(eve.id)).toMatchObject({ firstName: 'Person 2', jobTitle: 'Engineer', assignedTo: null });
    expect((await other.owner.get(`/contacts/${theirs.id}`)).body.data).toEqual(theirs);
  });

  it('checks custom fields against their definitions, each contact for itself', async () => {
    const account = await api.seed.account();
    const field = { entityType: 'contact', fieldKey: 'size', label: 'Size', fieldType: 'number', isRequired: true };
    const made = [await account.contact({ firstName: 'A' }), await account.contact({ firstName: 'B' }), await account.contact()];
    dataOf(await account.owner.post('/custom-fields', field));
    const values = [{ size: 3 }, { size: 'big' }, { size: null }];
    const updates = made.map(({ id }, i) => ({ id, customFields: values[i] }));
    const { results } = dataOf(await account.owner.post('/bulk/contacts/update', { updates }));
    expect(results.map((r: Loose) => [r.code, r.field])).toEqual([
      [null, null],
      ['invalid_request', 'customFields.size'],
      ['validation_failed', 'customFields.size'],
    ]);
  });
});

describe('an update of many contacts', () => {
  it('makes the changes of one contact one after the other', async () => {
    const { id } = await acme.contact({ firstName: 'Zero' });
    const updates = [{ id, firstName: 'One' }, { id: id.toUpperCase(), lastName: 'Two' }, { id, firstName: 'Three' }]; // biome-ignore format: one line
    const told = await toldBy(() => done('update', { updates }));
    expect(await read(id)).toMatchObject({ firstName: 'Three', lastName: 'Two' });
    expect(told.rows.map((row) => row.changes)).toEqual([
      { firstName: { from: 'Zero', to: 'One' } },
      { lastName: { from: null, to: 'Two' } },
      { firstName: { from: 'One', to: 'Three' } },
    ]);
  });

  it('tells of every contact that changed what PATCH tells, and nothing of the others', async () => {
    const [ada, bob, alone] = await contacts(3, { tags: ['vip'] });
    const told = await toldBy(() =>
      done('update', {
        updates: [
          { id: ada.id, jobTitle: 'CTO' },
          { id: bob.id, firstName: bob.firstName },
        ],
      }),
    );
    expect(told.events).toEqual([`contact.updated ${ada.id}`]);
    expect(told.entries).toEqual(told.events);
    const single = await toldBy(() => acme.owner.patch(`/contacts/${alone.id}`, { jobTitle: 'CTO' }));
    const same = ({ name, changes, data, actorId }: Loose) => ({
      name,
      changes,
      actorId,
      tags: data.tags,
      job: data.jobTitle,
      keys: Object.keys(data),
    });
    expect(told.rows.map(same)).toEqual(single.rows.map(same));
    expect((await read(bob.id)).updatedAt).toBe(bob.updatedAt);
  });

  it('answers 422 above 100 contacts and 400 for a body of another shape, and changes nothing', async () => {
    const { id } = await acme.contact();
    await expectNothingWritten(api, async () => {
      expectRefusal(await bulk('update', { updates: Array.from({ length: 101 }, () => ({ id, firstName: 'X' })) }), 422, 'updates');
      const shapes = [{}, { updates: [] }, { updates: {} }, { updates: [id] }, { updates: [{ firstName: 'X' }] }, { updates: [null] }];
      for (const body of [...shapes, { updates: [{ id, firstName: 5 }] }]) expectRefusal(await bulk('update', body), 400);
    });
  });
});
