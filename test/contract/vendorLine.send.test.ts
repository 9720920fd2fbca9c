import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SimulatedLines } from '../../src/vendors/line/simulated.js';
import { type Account, Client, dataOf, isPostgres, type Loose, minute, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { messagesTo } from '../support/sms.js';

let api: TestServer;
beforeAll(async () => {
  api = await server({ limits });
});
afterAll(() => api.close());

const endless = Object.fromEntries(
  ['general', 'key', 'create', 'login', 'register', 'security', 'graphql', 'form', 'invite', 'recipient'].map((name) => [name, 100_000]),
);
const limits = { ...endless, vendorLine: 60 };
const vendorOf = ({ app }: TestServer) => (app.vendors.line as SimulatedLines).simulator;
const vendor = () => vendorOf(api);
let people = 0;
const nextNumber = () => `+1415888${String(++people).padStart(4, '0')}`;

let shops = 0;
/** A workspace whose owner has the first line of an account of the vendor of its own. */
async function withLine() {
  const name = `desk${++shops}`;
  const account = await api.seed.account();
  dataOf(await account.owner.put('/settings/vendor-line', { apiKey: `line_${name}` }));
  dataOf(await account.owner.put(`/settings/vendor-line/lines/${name}-1`, { userId: account.ownerId }));
  const send = async (body: Loose = {}) => {
    const contactId = body.contactId ?? (await account.contact({ phone: nextNumber() })).id;
    return account.owner.post('/messages/sms/send', { contactId, body: 'Hello', transport: 'vendor_line', ...body });
  };
  const [line] = vendor().lines(name);
  const rowOf = (id: string) => api.app.database.prisma.message.findFirstOrThrow({ where: { accountId: account.id, id } });
  return { name, account, send, rowOf, number: line!.number, owner: account.owner };
}

const listed = async ({ owner }: Account, contactId: string): Promise<Loose[]> =>
  dataOf(await owner.get(`/messages?contact_id=${contactId}`)).data;

describe('a text message on a vendor line', () => {
  it('goes out on the line of the caller', async () => {
    const { name, account, send, rowOf, number } = await withLine();
    const { id: contactId, phone } = await account.contact({ phone: nextNumber() });
    const reply = await send({ contactId, metadata: { campaign: 7 }, idempotencyKey: 'key-on-a-line' });
    expect(reply.status).toBe(201);
    const { id } = reply.body.data;
    expect(reply.body.data).toMatchObject({
      ...{ status: 'sent', provider: 'vendor_line', transport: 'vendor_line', fromNumber: number, toNumber: phone, providerId: id },
      metadata: { campaign: 7, service: 'vendor_line', lineId: `${name}-1` },
    });
    expect((await rowOf(id)).lineId).toBe(`${name}-1`);
    expect(messagesTo(api, phone)).toMatchObject([{ id, line: `${name}-1`, from: number, body: 'Hello' }]);
    expect((await send({ contactId, metadata: { campaign: 7 }, idempotencyKey: 'key-on-a-line' })).body.data).toEqual(reply.body.data);
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('needs a key, then a line of the caller; an API key writes as its creator', async () => {
    const { account, send, owner } = await withLine();
    const member = await account.member();
    const { id: contactId } = await account.contact({ phone: nextNumber() });
    const body = { contactId, body: 'Hello', transport: 'vendor_line' };
    const missing = await member.post('/messages/sms/send', body);
    expect([missing.status, missing.body.code]).toEqual([422, 'vendor_line_missing']);
    const key = await account.key({ name: 'Sender' });
    expect(dataOf(await key.post('/messages/sms/send', body))).toMatchObject({ status: 'sent', userId: account.ownerId });
    dataOf(await owner.del('/settings/vendor-line'));
    for (const refused of [await send({ contactId }), await member.post('/messages/sms/send', body)])
      expect([refused.status, refused.body.code]).toEqual([422, 'vendor_line_not_configured']);
  });

  it('is another one where another agent sends it', async () => {
    const { name, account, send, owner } = await withLine();
    const admin = await account.member();
    dataOf(await owner.put(`/settings/vendor-line/lines/${name}-2`, { userId: admin.userId }));
    const { id: contactId } = await account.contact({ phone: nextNumber() });
    dataOf(await send({ contactId, idempotencyKey: 'key-of-agents' }));
    const other = await admin.post('/messages/sms/send', {
      ...{ contactId, body: 'Hello', transport: 'vendor_line', idempotencyKey: 'key-of-agents' },
    });
    expect([other.status, other.body.code]).toEqual([409, 'operation_key_conflict']);
  });
});

describe('a text message of which nobody knows whether the vendor took it', () => {
  it.each(['before', 'after'] as const)('is handed over again by itself, and sent once: cut %s it was taken', async (when) => {
    const { account, send, rowOf } = await withLine();
    const { id: contactId, phone } = await account.contact({ phone: nextNumber() });
    vendor().will({ kind: 'cut', when });
    const { id, status, error } = dataOf(await send({ contactId }));
    expect([status, error]).toEqual(['sending', 'unconfirmed']);
    expect(messagesTo(api, phone)).toHaveLength(when === 'after' ? 1 : 0);
    api.clock.advance(minute);
    await eventually(async () => (await rowOf(id)).status === 'sent');
    expect(messagesTo(api, phone)).toMatchObject([{ id }]);
    expect(await rowOf(id)).toMatchObject({ error: null, providerId: id, dueAt: null });
  });

  it('is handed over again for the client as well, and sent once', async () => {
    const { account, send } = await withLine();
    const { id: contactId, phone } = await account.contact({ phone: nextNumber() });
    vendor().will({ kind: 'fail', status: 500 });
    const kept = dataOf(await send({ contactId, idempotencyKey: 'key-that-was-cut' }));
    expect(kept).toMatchObject({ status: 'sending', error: 'unconfirmed' });
    expect(dataOf(await send({ contactId, idempotencyKey: 'key-that-was-cut' }))).toMatchObject({
      id: kept.id,
      status: 'sent',
      error: null,
    });
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('is handed over again where the process died with it, and sent once', async () => {
    const { account, send, rowOf } = await withLine();
    const { id: contactId, phone } = await account.contact({ phone: nextNumber() });
    vendor().will({ kind: 'fail', status: 500 });
    const { id } = dataOf(await send({ contactId }));
    // As a process leaves it that took the message and died before it kept the answer.
    const where = { key: { accountId: account.id, id } };
    await api.app.database.prisma.message.update({ where, data: { error: null, dueAt: new Date(0), leasedUntil: null } });
    api.clock.advance(1);
    await eventually(async () => (await rowOf(id)).status === 'sent');
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('stays unknown where the key or the line went before it was confirmed', async () => {
    const { name, send, rowOf } = await withLine();
    vendor().will({ kind: 'cut', when: 'after' });
    const { id } = dataOf(await send());
    vendor().keep(name, []);
    const { attempt } = await rowOf(id);
    api.clock.advance(minute);
    await eventually(async () => (await rowOf(id)).attempt > attempt && (await rowOf(id)).leasedUntil === null);
    expect(await rowOf(id)).toMatchObject({ status: 'sending', error: 'unconfirmed', dueAt: null });
    expect(dataOf(await send())).toMatchObject({ status: 'failed', error: 'line_not_found' });
  });
});

describe('a text message that may have gone', () => {
  it('stays unknown where its contact is deleted', async () => {
    const { account, owner, send, rowOf } = await withLine();
    const { id: contactId } = await account.contact({ phone: nextNumber() });
    vendor().will({ kind: 'cut', when: 'after' });
    const { id } = dataOf(await send({ contactId }));
    dataOf(await owner.del(`/contacts/${contactId}`));
    const { attempt } = await rowOf(id);
    api.clock.advance(minute);
    await eventually(async () => (await rowOf(id)).attempt > attempt && (await rowOf(id)).leasedUntil === null);
    expect(await rowOf(id)).toMatchObject({ status: 'sending', error: 'unconfirmed', dueAt: null });
  });
});

describe('a text message that the vendor does not take', () => {
  it('waits where the vendor says that its pace is exceeded, as long as it says', async () => {
    const { account, send, rowOf } = await withLine();
    const { id: contactId, phone } = await account.contact({ phone: nextNumber() });
    vendor().will({ kind: 'refuse', status: 429, retryAfter: 600 });
    const before = api.clock.now().getTime();
    const { id, status, error } = dataOf(await send({ contactId }));
    expect([status, error]).toEqual(['queued', 'throttled']);
    expect((await rowOf(id)).dueAt!.getTime()).toBeGreaterThanOrEqual(before + 600_000);
    api.clock.advance(10 * minute);
    await eventually(async () => (await rowOf(id)).status === 'sent');
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('is not sent once its reader has opted out', async () => {
    const { account, send, rowOf } = await withLine();
    const { id: contactId, phone } = await account.contact({ phone: nextNumber() });
    vendor().will({ kind: 'refuse', status: 429 });
    const { id } = dataOf(await send({ contactId }));
    dataOf(await account.owner.patch(`/contacts/${contactId}`, { doNotContact: true }));
    api.clock.advance(minute);
    await eventually(async () => (await rowOf(id)).status === 'failed');
    expect(messagesTo(api, phone)).toEqual([]);
  });

  it('marks its recipient where the vendor says so', async () => {
    const { account, send } = await withLine();
    const { id: contactId } = await account.contact({ phone: nextNumber() });
    vendor().will({ kind: 'refuse', status: 422, code: 'recipient_opted_out' });
    expect(dataOf(await send({ contactId }))).toMatchObject({ status: 'failed', error: 'recipient_opted_out' });
    expect((await send({ contactId })).body.code).toBe('recipient_opted_out');
  });
});

describe('the budget of a key', () => {
  it('is sixty requests a minute, to the one and over all processes, and what is beyond waits', async () => {
    const { account, send } = await withLine();
    const { id: contactId } = await account.contact({ phone: nextNumber() });
    const beside = isPostgres ? await server({ beside: api, limits }) : api;
    const there = new Client(beside.wire, { authorization: `Bearer ${(await account.key()).secret}` });
    const all = () => (beside === api ? vendor().asked : vendor().asked + vendorOf(beside).asked);
    const asked = all();
    const message = { contactId, body: 'Hello', transport: 'vendor_line' };
    const sends = Array.from({ length: 100 }, (_, n) => (n % 2 ? send({ contactId }) : there.post('/messages/sms/send', message)));
    const replies = await Promise.all(sends);
    const by = (status: string) => replies.filter(({ body }) => body.data.status === status);
    expect([by('sent').length, by('queued').length]).toEqual([60, 40]);
    expect(new Set(by('queued').map(({ body }) => body.data.error))).toEqual(new Set(['throttled']));
    expect(all() - asked).toBe(60);
    if (beside !== api) await beside.close();
    // The same key in another workspace has the same budget.
    const other = await api.seed.account();
    dataOf(await other.owner.put('/settings/vendor-line', { apiKey: `line_desk${shops}` }));
    dataOf(await other.owner.put(`/settings/vendor-line/lines/desk${shops}-2`, { userId: other.ownerId }));
    const { id: theirs } = await other.contact({ phone: nextNumber() });
    const beyond = await other.owner.post('/messages/sms/send', { contactId: theirs, body: 'Hi', transport: 'vendor_line' });
    expect(dataOf(beyond)).toMatchObject({ status: 'queued', error: 'throttled' });
  });
});

/** Has the vendors of lines asked for replies, until it is so. */
async function pollUntil(isDone: () => Promise<boolean>) {
  api.clock.advance(minute);
  await eventually(isDone);
}

describe('replies on a vendor line', () => {
  it('stand in the thread of the contact with that number, within a minute', async () => {
    const { name, account, number } = await withLine();
    const phone = nextNumber();
    const { id } = await account.contact({ phone });
    vendor().reply(name, { line: `${name}-1`, from: phone, body: 'Yes, please' });
    await pollUntil(async () => (await listed(account, id)).length > 0);
    expect(await listed(account, id)).toMatchObject([
      {
        ...{ direction: 'inbound', status: 'received', body: 'Yes, please', fromNumber: phone, toNumber: number, userId: null },
        ...{ provider: 'vendor_line', transport: 'vendor_line', metadata: { service: 'vendor_line', lineId: `${name}-1` } },
      },
    ]);
    expect(dataOf(await account.owner.get(`/conversations/${id}`))).toMatchObject({ unreadCount: 1 });
  });

  it('count once, however often they are told, and none is left out', async () => {
    const { name, account } = await withLine();
    const phone = nextNumber();
    // More than a page, one of them told twice.
    for (let i = 0; i < 105; i++) vendor().reply(name, { line: `${name}-1`, from: phone, body: `Reply ${i}` });
    vendor().reply(name, { line: `${name}-1`, from: phone, body: 'Told again', id: `${name}-reply-1` });
    vendor().reply(name, { line: `${name}-1`, from: phone, body: 'The last' });
    const where = { accountId: account.id, direction: 'inbound' };
    const { prisma } = api.app.database;
    await pollUntil(async () => (await prisma.message.count({ where: { ...where, body: 'The last' } })) === 1);
    // As if the process had died before the cursor was kept: all are told once more.
    await prisma.vendorConnection.updateMany({ where: { accountId: account.id }, data: { cursor: '0' } });
    const cursor = async () => (await prisma.vendorConnection.findFirstOrThrow({ where: { accountId: account.id } })).cursor;
    await pollUntil(async () => (await cursor()) === '107');
    expect(await prisma.message.count({ where })).toBe(106);
    expect((await prisma.contact.findMany({ where: { accountId: account.id } })).map((contact) => contact.phone)).toEqual([phone]);
  });

  it('begin with the connection, and go on behind the cursor where another key of the same account is connected', async () => {
    const name = `desk${++shops}`;
    const account = await api.seed.account();
    vendor().reply(name, { line: `${name}-1`, from: nextNumber(), body: 'Before' });
    dataOf(await account.owner.put('/settings/vendor-line', { apiKey: `line_${name}` }));
    vendor().reply(name, { line: `${name}-1`, from: nextNumber(), body: 'Between' });
    dataOf(await account.owner.put('/settings/vendor-line', { apiKey: `line_${name}.new` }));
    const bodies = async () =>
      (await api.app.database.prisma.message.findMany({ where: { accountId: account.id } })).map((message) => message.body);
    await pollUntil(async () => (await bodies()).length > 0);
    expect(await bodies()).toEqual(['Between']);
  });

  it('are asked for from the same budget, and opt out by STOP', async () => {
    const { name, account, send } = await withLine();
    const { id: contactId, phone } = await account.contact({ phone: nextNumber() });
    vendor().reply(name, { line: `${name}-1`, from: phone!, body: 'STOP' });
    await pollUntil(async () => (await listed(account, contactId)).length > 0);
    expect((await send({ contactId })).body.code).toBe('recipient_opted_out');
    const { id: other } = await account.contact({ phone: nextNumber() });
    const replies = await Promise.all(Array.from({ length: 60 }, () => send({ contactId: other })));
    expect(replies.filter(({ body }) => body.data.status === 'sent').length).toBeLessThan(60);
  });
});

describe('further replies on a vendor line', () => {
  it('do not wait behind one that cannot be kept; half of a character is left out', async () => {
    const { name, account } = await withLine();
    const from = nextNumber();
    const bodies = ['ok \ud83d', 'From nobody', 'The last'];
    for (const body of bodies) vendor().reply(name, { line: `${name}-1`, from: body === 'From nobody' ? '' : from, body });
    const kept = async () => {
      const messages = await api.app.database.prisma.message.findMany({ where: { accountId: account.id }, orderBy: { id: 'asc' } });
      return messages.map(({ body }) => body);
    };
    await pollUntil(async () => (await kept()).includes('The last'));
    expect(await kept()).toEqual(['ok ', 'The last']);
  });
});
