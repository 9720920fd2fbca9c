import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const create = (body: object) => acme.owner.post('/calls', body);
const log = async (fields: object = {}) => dataOf(await create({ source: 'manual_log', ...fields }));
const patch = (id: string, body: object) => acme.owner.patch(`/calls/${id}`, body);
const contactOf = async (id: string) => dataOf(await acme.owner.get(`/contacts/${id}`));

describe('POST /calls', () => {
  it('keeps every field as it was sent, in the name of the caller', async () => {
    const fields = {
      ...{ contactId: (await acme.contact()).id, direction: 'inbound', status: 'voicemail', duration: 75, notes: 'n'.repeat(51_200) },
      ...{ disposition: 'callback', source: 'dialer', fromNumber: '+14155550150', toNumber: '+14155550100' },
    };
    const reply = await create(fields);
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({ ...fields, userId: acme.ownerId, callFlowId: null, providerId: null });
    expect(dataOf(await acme.owner.get(`/calls/${reply.body.data.id}`))).toEqual(reply.body.data);
  });

  it('begins, where it is entered by hand, when it is logged, and ends by its duration', async () => {
    const call = await log({ duration: 90 });
    expect(call).toMatchObject({ direction: 'outbound', status: 'completed', fromNumber: null, toNumber: null, startedAt: call.createdAt });
    expect(Date.parse(call.endedAt) - Date.parse(call.startedAt)).toBe(90_000);
    expect((await log()).endedAt).toBeNull();
  });

  it('needs both numbers unless the source is manual_log, and names those that are missing', async () => {
    await expectNothingWritten(api, async () => {
      const none = await create({ direction: 'inbound', status: 'completed' });
      for (const field of ['fromNumber', 'toNumber']) expectRefusal(none, 400, field);
      expectRefusal(await create({ source: 'dialer', fromNumber: '+14155550100' }), 400, 'toNumber');
    });
  });

  it('refuses what a field cannot hold, naming the field', async () => {
    const bad: [string, unknown][] = [
      ...['sideways', 5].map((value): [string, unknown] => ['direction', value]),
      ...['ended', ''].map((value): [string, unknown] => ['status', value]),
      ...[-1, 1.5, '60', 2 ** 31].map((value): [string, unknown] => ['duration', value]),
      ...['x', v4()].map((value): [string, unknown] => ['contactId', value]),
    ];
    await expectNothingWritten(api, async () => {
      for (const [field, value] of bad) expectRefusal(await create({ source: 'manual_log', [field]: value }), 400, field);
      expectRefusal(await create({ source: 'manual_log', notes: 'n'.repeat(51_201) }), 413, 'notes');
    });
  });

  it('counts in the log, in the score, and in when the contact was last contacted', async () => {
    const { id } = await acme.contact();
    const call = await log({ contactId: id, direction: 'inbound' });
    const { leadScore, lastContactedAt } = await contactOf(id);
    expect([leadScore, lastContactedAt]).toEqual([5, call.startedAt]);
    const [entry] = dataOf(await acme.owner.get(`/activities?contact_id=${id}&type=call.created`)).data;
    expect(entry).toMatchObject({ entityType: 'call', entityId: call.id, userId: acme.ownerId });
  });

  it('does not take a call that nobody answered for a contact', async () => {
    const { id } = await acme.contact();
    await log({ contactId: id, direction: 'inbound', status: 'missed' });
    expect(await contactOf(id)).toMatchObject({ leadScore: 0, lastContactedAt: null });
    const tried = await log({ contactId: id, direction: 'outbound', status: 'no_answer' });
    expect(await contactOf(id)).toMatchObject({ leadScore: 0, lastContactedAt: tried.startedAt });
  });
});

describe('PATCH /calls/{id}', () => {
  it('changes what is given, and tells it once', async () => {
    const call = await log({ duration: 10, notes: 'First' });
    const changed = dataOf(await patch(call.id, { duration: 20, notes: null }));
    expect(changed).toMatchObject({ duration: 20, notes: null, startedAt: call.startedAt });
    expect(Date.parse(changed.endedAt) - Date.parse(changed.startedAt)).toBe(20_000);
    dataOf(await patch(call.id, { duration: 20 }));
    const told = await api.app.database.prisma.outboxEvent.findMany({ where: { entityId: call.id }, orderBy: { seq: 'asc' } });
    expect(told.map(({ name }) => name)).toEqual(['call.created', 'call.updated']);
  });

  it('hands the points of a call to the contact that it was with', async () => {
    const [wrong, right] = [await acme.contact(), await acme.contact()];
    const call = await log({ contactId: wrong.id });
    dataOf(await patch(call.id, { contactId: right.id }));
    expect([(await contactOf(wrong.id)).leadScore, (await contactOf(right.id)).leadScore]).toEqual([0, 5]);
  });

  it('takes no number from a call that was not entered by hand', async () => {
    const { id } = dataOf(await create({ fromNumber: '1', toNumber: '2' }));
    expectRefusal(await patch(id, { toNumber: null }), 400, 'toNumber');
    expectRefusal(await acme.owner.patch(`/calls/${v4()}`, {}), 404);
  });
});

describe('GET /calls', () => {
  it('filters by contact, user, direction, status and the days on which calls began', async () => {
    const own = await api.seed.account();
    const { id: contactId } = await own.contact();
    const [first, second] = [
      dataOf(await own.owner.post('/calls', { source: 'manual_log', contactId, direction: 'inbound' })),
      dataOf(await own.owner.post('/calls', { source: 'manual_log', status: 'no_answer' })),
    ];
    const found = async (query: string) => dataOf(await own.owner.get(`/calls?${query}`)).data.map(({ id }: { id: string }) => id);
    const today = first.startedAt.slice(0, 10);
    expect(await found('')).toEqual([second.id, first.id]);
    expect(await found(`contact_id=${contactId}`)).toEqual([first.id]);
    expect(await found('direction=outbound')).toEqual([second.id]);
    expect(await found('status=no_answer')).toEqual([second.id]);
    expect(await found(`user_id=${own.ownerId}`)).toHaveLength(2);
    expect(await found(`date_from=${today}&date_to=${second.startedAt.slice(0, 10)}`)).toHaveLength(2);
    expect(await found('date_to=2001-01-01')).toEqual([]);
    expectRefusal(await own.owner.get('/calls?status=ringing'), 400, 'status');
  });

  it('shows with minimal=true six members alone', async () => {
    await log();
    const [record] = dataOf(await acme.owner.get('/calls?minimal=true')).data;
    expect(Object.keys(record)).toEqual(['id', 'contactId', 'direction', 'status', 'duration', 'createdAt']);
    expect(dataOf(await acme.owner.get('/calls?minimal=false')).data[0]).toHaveProperty('notes');
  });

  it('is one statement', async () => {
    expect(await api.statements(() => acme.owner.get('/calls?direction=outbound'))).toBe(1);
  });
});

describe('the calls of a contact', () => {
  it('never move when it was last contacted back', async () => {
    const { id: contactId } = await acme.contact();
    const call = await log({ contactId });
    api.clock.advance(24 * 60 * 60 * 1000);
    dataOf(await acme.owner.post('/messages', { contactId, channel: 'email', direction: 'outbound', subject: 'Hi', body: 'Hello' }));
    const { lastContactedAt: written } = await contactOf(contactId);
    expect(written > call.startedAt).toBe(true);
    dataOf(await patch(call.id, { status: 'no_answer' }));
    expect((await contactOf(contactId)).lastContactedAt).toBe(written);
    const other = await acme.contact();
    dataOf(await patch(call.id, { contactId: other.id }));
    expect((await contactOf(other.id)).lastContactedAt).toBe(call.startedAt);
  });

  it('are followed by those of the contact that is merged into it, and lead there and back', async () => {
    const [kept, gone] = [await acme.contact({ firstName: 'Kept' }), await acme.contact()];
    const call = await log({ contactId: gone.id });
    dataOf(await acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: gone.id }));
    const query =
      'query ($id: ID!) { contact(id: $id) { calls(filter: { direction: outbound }) { nodes { id user { name } contact { firstName } } } } }';
    const data = (await acme.owner.gql(query, { id: kept.id })).data as Loose;
    expect(data.contact.calls.nodes).toMatchObject([{ id: call.id, contact: { firstName: 'Kept' } }]);
  });
});
