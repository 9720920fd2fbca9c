import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { sweep } from '../../src/workers/sweeps.js';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  minute,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';
import { messagesTo } from '../support/sms.js';
import { toldIn } from '../support/told.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());
afterEach(() => api.clock.reset());

let people = 0;
const nextNumber = () => `+1415666${String(++people).padStart(4, '0')}`;
const reader = async (fields: Loose = {}) => acme.contact({ phone: nextNumber(), ...fields });
const send = (body: Loose) => acme.owner.post('/messages/sms/send', { body: 'Hello', ...body });
const vendor = () => (api.app.vendors.sms as SimulatedSms).simulator;
const messageOf = (id: string) => api.app.database.prisma.message.findFirstOrThrow({ where: { accountId: acme.id, id } });
const throttled = { kind: 'refuse', status: 429, code: 20429 } as const;

describe('POST /messages/sms/send', () => {
  it('hands the text over and answers the message as sent', async () => {
    const { id: contactId, phone } = await reader();
    const reply = await send({ contactId, metadata: { campaign: 7 } });
    expect(reply.status).toBe(201);
    expect(reply.body.data).toMatchObject({
      ...{ contactId, channel: 'sms', direction: 'outbound', status: 'sent', provider: 'twilio', error: null },
      ...{ fromNumber: api.app.vendors.sms.from, toNumber: phone, metadata: { campaign: 7 }, userId: acme.ownerId },
    });
    const [text] = messagesTo(api, phone);
    expect(text).toMatchObject({ channel: 'sms', body: 'Hello', sid: reply.body.data.providerId });
    expect(dataOf(await acme.owner.get(`/messages/sms/${reply.body.data.id}`))).toEqual(reply.body.data);
  });

  it('refuses what contradicts itself before it looks at anything', async () => {
    const contactId = v4();
    for (const conflict of [{ smsProviderId: v4() }, { fromNumber: '+14155550100' }, { fromkPhoneNumberId: v4() }]) {
      const { status, body } = await send({ contactId, transport: 'vendor_line', ...conflict });
      const [field] = Object.keys(conflict);
      expect([status, body.code, body.error]).toEqual([400, 'transport_conflict', `${field} goes with the transport primary only`]);
      expect(body.details).toEqual([{ field, code: 'conflicting', message: 'goes with the transport primary only' }]);
    }
    for (const transport of ['chat_app', 'alt_provider']) {
      expectRefusal(await send({ contactId, transport, fromNumber: '+14155550100' }), 400, 'fromNumber');
      expectRefusal(await send({ contactId, transport, smsProviderId: v4() }), 400, 'smsProviderId');
    }
    expectRefusal(await send({ contactId, whatsappContentVariables: { 1: 'Ada' } }), 400, 'whatsappContentVariables');
    for (const idempotencyKey of ['short', '😀😀😀😀']) expectRefusal(await send({ contactId, idempotencyKey }), 400, 'idempotencyKey');
    expectRefusal(await send({ contactId, body: 'x'.repeat(1601) }), 400, 'body');
    expectRefusal(await send({ contactId, transport: 'pigeon' }), 400, 'transport');
  });

  it('sends nothing to those who must not be written to, and names what is wrong', async () => {
    const other = await api.seed.account();
    const { id: foreign } = await other.contact({ phone: '+14155550123' });
    const ids = {
      do_not_contact: (await reader({ doNotContact: true })).id,
      recipient_opted_out: (await reader()).id,
      landline: (await reader()).id,
    };
    const { prisma } = api.app.database;
    await prisma.contact.updateMany({ where: { id: ids.recipient_opted_out }, data: { optedOutSms: true } });
    await prisma.contact.updateMany({ where: { id: ids.landline }, data: { landline: `+1415666${String(people).padStart(4, '0')}` } });
    const { id: mute } = await acme.contact({ email: 'mute@example.com' });
    const { id: good } = await reader();
    await expectNothingWritten(api, async () => {
      for (const [code, contactId] of Object.entries(ids)) {
        const { status, body } = await send({ contactId });
        expect([status, body.code]).toEqual([422, code]);
      }
      expectRefusal(await send({ contactId: mute }), 422, 'contactId');
      expectRefusal(await send({ contactId: foreign }), 400, 'contactId');
      expectRefusal(await send({ contactId: good, smsProviderId: v4() }), 400, 'smsProviderId');
      expectRefusal(await send({ contactId: good, fromkPhoneNumberId: v4() }), 400, 'fromkPhoneNumberId');
    });
  });
});

describe('an opt-out of text messages', () => {
  it('takes an opt-out as that of the number, whichever contact has it', async () => {
    const [out, silent, plain] = [await reader({ optedOutSms: true }), await reader({ doNotContact: true }), await reader()];
    const later = await acme.contact({ firstName: 'Later', phone: out.phone });
    const colleague = await acme.contact({ firstName: 'Colleague', phone: silent.phone });
    await expectNothingWritten(api, async () => {
      expect((await send({ contactId: later.id })).body).toMatchObject({ code: 'recipient_opted_out' });
      for (const toNumber of [out.phone, out.phone.replace('+1415', '415 ')]) {
        expect((await send({ contactId: plain.id, toNumber })).body).toMatchObject({ code: 'recipient_opted_out' });
      }
      expect((await send({ contactId: plain.id, toNumber: silent.phone })).body).toMatchObject({ code: 'do_not_contact' });
    });
    expect(dataOf(await send({ contactId: colleague.id }))).toMatchObject({ status: 'sent' });
    dataOf(await acme.owner.patch(`/contacts/${out.id}`, { optedOutSms: false }));
    expect(dataOf(await send({ contactId: later.id }))).toMatchObject({ status: 'sent' });
  });

  it('looks again at the number when a text that waited goes', async () => {
    const { id: contactId, phone } = await reader();
    vendor().will(throttled);
    const { id } = dataOf(await send({ contactId }));
    await reader({ phone, optedOutSms: true });
    api.clock.advance(minute);
    await eventually(async () => (await messageOf(id)).status === 'failed');
    expect((await messageOf(id)).error).toBe('recipient_opted_out');
    expect(messagesTo(api, phone)).toEqual([]);
  });
});

describe('an idempotencyKey', () => {
  it('sends once, and answers what was kept', async () => {
    const { id: contactId, phone } = await reader();
    const first = await send({ contactId, idempotencyKey: 'key-of-one' });
    const again = await send({ contactId, idempotencyKey: 'key-of-one' });
    expect(again.status).toBe(201);
    expect(again.body.data).toEqual(first.body.data);
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it.each([['body'], ['contactId'], ['toNumber'], ['transport']])('is refused for a message of another %s', async (field) => {
    const { id: contactId } = await reader();
    const idempotencyKey = `key-of-${field}`;
    dataOf(await send({ contactId, idempotencyKey }));
    const others: Loose = { body: 'Other', contactId: (await reader()).id, toNumber: nextNumber(), transport: 'chat_app' };
    const { status, body } = await send({ contactId, idempotencyKey, [field]: others[field] });
    expect([status, body.code]).toEqual([409, 'operation_key_conflict']);
  });

  it('may come as the header', async () => {
    const { id: contactId, phone } = await reader();
    const keyed = acme.owner.with({ 'idempotency-key': 'key-in-a-header' });
    const ids = [];
    for (let i = 0; i < 2; i++) ids.push(dataOf(await keyed.post('/messages/sms/send', { contactId, body: 'Hi' })).id);
    expect(new Set(ids).size).toBe(1);
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('sends once for twenty at a time', async () => {
    const { id: contactId, phone } = await reader();
    const replies = await Promise.all(Array.from({ length: 20 }, () => send({ contactId, idempotencyKey: 'key-of-twenty' })));
    expect(replies.every(({ status, body }) => status === 201 || body.code === 'send_in_progress')).toBe(true);
    expect(replies.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('sends again what the vendor throttled, the same message', async () => {
    const { id: contactId, phone } = await reader();
    vendor().will(throttled);
    const kept = dataOf(await send({ contactId, idempotencyKey: 'key-throttled' }));
    expect(kept).toMatchObject({ status: 'queued', error: 'throttled' });
    expect(messagesTo(api, phone)).toEqual([]);
    const sent = dataOf(await send({ contactId, idempotencyKey: 'key-throttled' }));
    expect(sent).toMatchObject({ id: kept.id, status: 'sent', error: null });
  });

  it('says what is unconfirmed, and sends it again only for the client', async () => {
    const { id: contactId, phone } = await reader();
    vendor().will({ kind: 'fail', status: 500 });
    const kept = dataOf(await send({ contactId, idempotencyKey: 'key-unconfirmed' }));
    expect(kept).toMatchObject({ status: 'sending', error: 'unconfirmed', sentAt: null });
    api.clock.advance(60 * minute);
    expect(messagesTo(api, phone)).toHaveLength(1);
    expect(dataOf(await send({ contactId, idempotencyKey: 'key-unconfirmed' }))).toMatchObject({ id: kept.id, status: 'sent' });
  });
});

describe('a text message that is under way while its contact', () => {
  const meanwhile: [string, (contact: Loose, kept: Loose) => Promise<Reply>][] = [
    ['opts out', ({ id }) => acme.owner.patch(`/contacts/${id}`, { doNotContact: true })],
    ['answers', ({ id }) => acme.owner.post('/messages', { contactId: id, channel: 'sms', direction: 'inbound', body: 'Yes' })],
    ['is deleted', ({ id }) => acme.owner.del(`/contacts/${id}`)],
    ['is merged', ({ id }, kept) => acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: id })],
  ];

  it.each(meanwhile)('%s is sent once, or not at all, and says which', async (what, change) => {
    for (let round = 0; round < 5; round++) {
      const [contact, kept] = [await reader(), await reader()];
      const [sent, changed] = await Promise.all([send({ contactId: contact.id }), change(contact, kept)]);
      expect([sent.status, changed.status].every((status) => status < 500)).toBe(true);
      const all = await api.app.database.prisma.message.findMany({ where: { accountId: acme.id, toNumber: contact.phone } });
      expect(all).toHaveLength(sent.status === 201 ? 1 : 0);
      const [message] = all;
      expect(messagesTo(api, contact.phone)).toHaveLength(message?.status === 'sent' ? 1 : 0);
      if (message) expect(['sent', 'failed', 'cancelled']).toContain(message.status);
      if (message && what === 'is merged') expect(message.contactId).toBe(kept.id);
    }
  });
});

describe('what the vendor does not take', () => {
  it('is tried again by itself where it throttles', async () => {
    const { id: contactId, phone } = await reader();
    vendor().will(throttled);
    const { id } = dataOf(await send({ contactId }));
    api.clock.advance(minute);
    await eventually(async () => (await messageOf(id)).status === 'sent');
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('goes to the number that its contact has when it goes, and one that has none by then is not sent', async () => {
    const [{ id: contactId, phone }, { id: gone }, { id: elsewhere }] = [await reader(), await reader(), await reader()];
    const [next, other] = ['+14155559090', '+14155559091'];
    vendor().will(throttled, throttled, throttled);
    const asked = [{ contactId }, { contactId: gone }, { contactId: elsewhere, toNumber: other }];
    const ids: string[] = [];
    for (const one of asked) ids.push(dataOf(await send(one)).id);
    for (const [id, number] of [
      [contactId, next],
      [gone, null],
      [elsewhere, '+14155559092'],
    ])
      dataOf(
        await acme.owner.patch(`/contacts/${id}`, number === null ? { phone: null, email: 'no.number@example.com' } : { phone: number }),
      );
    api.clock.advance(minute);
    await eventually(async () =>
      (await Promise.all(ids.map(messageOf))).every(({ status }) => status !== 'queued' && status !== 'sending'),
    );
    expect(await Promise.all(ids.map(messageOf))).toMatchObject([
      { status: 'sent', toNumber: next },
      { status: 'failed', error: 'no_phone', toNumber: null },
      { status: 'sent', toNumber: other },
    ]);
    expect([phone, next].map((number) => messagesTo(api, number).length)).toEqual([0, 1]);
  });

  it('is not sent once its reader has opted out', async () => {
    const { id: contactId, phone } = await reader();
    vendor().will(throttled);
    const { id } = dataOf(await send({ contactId }));
    dataOf(await acme.owner.patch(`/contacts/${contactId}`, { doNotContact: true }));
    api.clock.advance(minute);
    await eventually(async () => (await messageOf(id)).status === 'failed');
    expect(messagesTo(api, phone)).toEqual([]);
  });

  it.each([
    [21610, 'recipient_opted_out', 'recipient_opted_out'],
    [21614, 'landline', 'landline'],
    [21211, 'refused', undefined],
  ])('has failed with %i, and the contact is marked where it says so', async (code, error, refusal) => {
    const { id: contactId } = await reader();
    vendor().will({ kind: 'refuse', status: 400, code });
    expect(dataOf(await send({ contactId }))).toMatchObject({ status: 'failed', error, sentAt: null });
    const next = await send({ contactId });
    expect([next.status, next.body.code]).toEqual(refusal ? [422, refusal] : [201, undefined]);
  });
});

describe('a text that waits while its contact has no number for a time', () => {
  it('goes to the next one that the contact gets', async () => {
    const [{ id: contactId, phone }, other] = [await reader({ firstName: 'Ann' }), await reader()];
    vendor().will(throttled, throttled);
    const [{ id }, { id: others }] = [dataOf(await send({ contactId })), dataOf(await send({ contactId: other.id }))];
    const next = nextNumber();
    dataOf(await acme.owner.patch(`/contacts/${contactId}`, { phone: null }));
    expect(await messageOf(id)).toMatchObject({ status: 'queued', toNumber: null });
    const told = await toldIn(acme, async () => dataOf(await acme.owner.patch(`/contacts/${contactId}`, { phone: next })));
    expect(told.rows.find(({ name }) => name === 'message.updated')).toMatchObject({ changes: { toNumber: { from: null, to: next } } });
    api.clock.advance(minute);
    await eventually(async () => (await Promise.all([id, others].map(messageOf))).every(({ status }) => status === 'sent'));
    expect([phone, next, other.phone].map((number) => messagesTo(api, number).length)).toEqual([0, 1, 1]);
  });
});

describe('an idempotencyKey that was used', () => {
  it('is free for another message after 30 days', async () => {
    // Last in this file: the sweep takes sessions as well.
    const key = await acme.key();
    const { id: contactId } = await reader();
    const write = (body: string) => key.post('/messages/sms/send', { contactId, body, idempotencyKey: 'key-of-a-month' });
    const { id } = dataOf(await write('Hello'));
    api.clock.advance(29 * day);
    await sweep(api.app);
    expect((await write('Other')).status).toBe(409);
    api.clock.advance(2 * day);
    await sweep(api.app);
    expect(dataOf(await write('Other')).id).not.toBe(id);
  });
});
