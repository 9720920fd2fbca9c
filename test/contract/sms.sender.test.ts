import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { signatures } from '../../src/kernel/base/crypto.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { messageToSend } from '../../src/modules/messages/message.due.js';
import { deliverSms } from '../../src/modules/messages/message.sms.attempt.js';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { aFlow, bye, entry, graph, publish } from '../support/callFlows.js';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { messagesTo } from '../support/sms.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());
afterEach(() => api.clock.reset());

let people = 0;
const nextNumber = () => `+1415668${String(++people).padStart(4, '0')}`;
const reader = async (fields: Loose = {}) => acme.contact({ phone: nextNumber(), ...fields });
const send = (body: Loose) => acme.owner.post('/messages/sms/send', { body: 'Hello', ...body });
const vendor = () => (api.app.vendors.sms as SimulatedSms).simulator;
const throttled = { kind: 'refuse', status: 429, code: 20429 } as const;

describe('the number that a text message comes from', () => {
  it('is none that another workspace has claimed: who answers would write to that one', async () => {
    const { id: contactId } = await reader();
    const other = await api.seed.account();
    const number = api.app.vendors.sms.from;
    const { id } = dataOf(await other.owner.post('/settings/numbers', { number }));
    await expectNothingWritten(api, async () => {
      expectRefusal(await send({ contactId }), 422, 'fromNumber');
      expectRefusal(await send({ contactId, fromNumber: number }), 400, 'fromNumber');
    });
    dataOf(await other.owner.del(`/settings/numbers/${id}`));
    expect(dataOf(await send({ contactId }))).toMatchObject({ status: 'sent', fromNumber: number });
  });

  it('is any that nobody has claimed, where the vendor is simulated', async () => {
    const { id: contactId } = await reader();
    expect(dataOf(await send({ contactId, fromNumber: '(415) 555-9999' }))).toMatchObject({ status: 'sent', fromNumber: '+14155559999' });
  });

  it('is one, by whatever it is named: what names two is refused', async () => {
    const { id: contactId } = await reader();
    const claimed = async () => dataOf(await acme.owner.post('/settings/numbers', { number: await freeNumber(acme) }));
    const [one, other] = [await claimed(), await claimed()];
    await expectNothingWritten(api, async () => {
      const sent = { contactId, fromNumber: one.number };
      expectRefusal(await send({ ...sent, fromkPhoneNumberId: other.id }), 400, 'fromNumber');
      expectRefusal(await send({ ...sent, smsProviderId: other.id }), 400, 'fromNumber');
      expectRefusal(await send({ contactId, fromkPhoneNumberId: one.id, smsProviderId: other.id }), 400, 'smsProviderId');
    });
    const same = { fromNumber: other.number, fromkPhoneNumberId: other.id, smsProviderId: other.id };
    expect(dataOf(await send({ contactId, ...same }))).toMatchObject({ status: 'sent', fromNumber: other.number });
    for (const { id } of [one, other]) dataOf(await acme.owner.del(`/settings/numbers/${id}`));
  });

  it("is not sent from a number that was given back, and is another workspace's by then", async () => {
    const [{ id: contactId, phone }, number] = [await reader(), await freeNumber(acme)];
    const { id: numberId } = dataOf(await acme.owner.post('/settings/numbers', { number }));
    vendor().will(throttled);
    const input = { contactId, fromNumber: number, idempotencyKey: 'key-released' };
    expect(dataOf(await send(input))).toMatchObject({ status: 'queued', fromNumber: number });
    dataOf(await acme.owner.del(`/settings/numbers/${numberId}`));
    dataOf(await (await api.seed.account()).owner.post('/settings/numbers', { number }));
    expect(dataOf(await send(input))).toMatchObject({ status: 'failed', error: 'number_released', sentAt: null });
    expect(messagesTo(api, phone)).toEqual([]);
  });
});

describe('TWILIO_FROM, where it is everybody’s', () => {
  it('is claimed by nobody, neither by itself nor with a call flow, and stays the sender of all', async () => {
    const shared = await server({ config: { twilioFromShared: true } });
    const [one, other] = [await shared.seed.account(), await shared.seed.account()];
    const number = shared.app.vendors.sms.from!;
    const free: Loose[] = dataOf(await one.owner.get('/settings/numbers/available'));
    expect(free.length).toBeGreaterThan(0);
    expect(free.map((one) => one.number)).not.toContain(number);
    const flow = await aFlow(one, { phoneNumber: number, draftGraph: graph(entry('bye'), bye) });
    expect(dataOf(await one.owner.get(`/call-flows/${flow.id}/validate`)).blockers).toMatchObject([{ code: 'number_missing' }]);
    await expectNothingWritten(shared, async () => {
      expectRefusal(await one.owner.post('/settings/numbers', { number }), 409, 'number');
      const refused = await publish(one, flow);
      expectRefusal(refused, 422);
      expect(refused.body.code).toBe('number_missing');
    });
    for (const account of [one, other]) {
      const { id: contactId } = await account.contact({ phone: nextNumber() });
      const sent = dataOf(await account.owner.post('/messages/sms/send', { body: 'Hello', contactId }));
      expect(sent).toMatchObject({ status: 'sent', fromNumber: number });
    }
    dataOf(await one.owner.post('/settings/numbers', { number: free[0].number }));
    await shared.close();
  });
});

describe('a number that takes calls alone', () => {
  it.each(['claimed', 'published'])('is no sender, once it is %s: the next one is', async (how) => {
    const [{ id: contactId }, silent, number] = [await reader(), await freeNumber(acme), await freeNumber(acme)];
    const { capabilities } = vendor().numbers.find(silent)!;
    capabilities.sms = false;
    if (how === 'claimed') expect(dataOf(await acme.owner.post('/settings/numbers', { number: silent })).hasSms).toBe(false);
    const flow = await aFlow(acme, { phoneNumber: silent });
    dataOf(await publish(acme, flow));
    const kept = await api.app.database.prisma.phoneNumber.findUniqueOrThrow({ where: { number: silent } });
    expect(kept).toMatchObject({ hasSms: false, hasVoice: true });
    const next = dataOf(await acme.owner.post('/settings/numbers', { number }));
    expect(dataOf(await send({ contactId }))).toMatchObject({ status: 'sent', fromNumber: number });
    await expectNothingWritten(api, async () => {
      expectRefusal(await send({ contactId, fromNumber: silent }), 400, 'fromNumber');
      expectRefusal(await send({ contactId, fromkPhoneNumberId: kept.id }), 400, 'fromkPhoneNumberId');
    });
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    for (const { id } of [kept, next]) dataOf(await acme.owner.del(`/settings/numbers/${id}`));
    capabilities.sms = true;
  });
});

describe('a chat app', () => {
  it('writes to chat apps at their addresses, with their templates', async () => {
    const { id: contactId, phone } = await reader();
    const content = { whatsappContentSid: 'HX1', whatsappContentVariables: { 1: 'Ada' } };
    const message = dataOf(await send({ contactId, transport: 'chat_app', ...content }));
    expect(message).toMatchObject({ transport: 'chat_app', status: 'sent', toNumber: phone });
    expect(messagesTo(api, `whatsapp:${phone}`)).toMatchObject([{ contentSid: 'HX1' }]);
  });

  it('takes no template from the metadata that a client keeps with it', async () => {
    const { id: contactId, phone } = await reader();
    const metadata = { whatsappContentSid: 'HX9', whatsappContentVariables: 'zz', lineId: 'mine', order: 7 };
    const message = dataOf(await send({ contactId, transport: 'chat_app', metadata }));
    expect(message.metadata).toEqual({ order: 7, service: 'chat_app' });
    const [sent] = messagesTo(api, `whatsapp:${phone}`);
    expect(sent).toMatchObject({ body: message.body });
    expect(sent).not.toHaveProperty('contentSid');
  });
});

describe('the number that a text message goes to', () => {
  const attemptOf = async (id: string) =>
    (await api.app.database.prisma.message.findFirstOrThrow({ where: { accountId: acme.id, id } })).attempt;

  it('is that of its contact also where it changes once the text is looked at, and before it begins to go', async () => {
    const { id: contactId, phone } = await reader();
    vendor().will(throttled);
    const { id } = dataOf(await send({ contactId }));
    const acting = (await actingForAccount(api.app, acme.id, { actor: { kind: 'sender', id: null, name: 'Text' } }))!;
    const seen = (await messageToSend(acting, id, await attemptOf(id)))!;
    dataOf(await acme.owner.patch(`/contacts/${contactId}`, { phone: '+14155559093' }));
    await deliverSms(acting, seen);
    expect(dataOf(await acme.owner.get(`/messages/sms/${id}`))).toMatchObject({ status: 'sent', toNumber: '+14155559093' });
    expect([phone, '+14155559093'].map((number) => messagesTo(api, number).length)).toEqual([0, 1]);
  });
});

describe('an idempotencyKey', () => {
  it('is of one message in whatever order its variables come, also of one that was kept in the order in which they came', async () => {
    const { id: contactId, phone } = await reader();
    const [one, other] = [
      { name: 'Ada', at: { hour: 9, day: 'Monday' } },
      { at: { day: 'Monday', hour: 9 }, name: 'Ada' },
    ];
    const given = (idempotencyKey: string, whatsappContentVariables: object) =>
      send({ contactId, transport: 'chat_app', whatsappContentSid: 'HX1', idempotencyKey, whatsappContentVariables });
    const first = dataOf(await given('key-in-order', one));
    expect(dataOf(await given('key-in-order', other)).id).toBe(first.id);
    expect((await given('key-in-order', { ...other, name: 'Bob' })).status).toBe(409);
    // As it was hashed before.
    const parts = [contactId, 'Hello', ['HX1', one], 'chat_app', undefined, undefined, undefined, undefined];
    const [requestHash] = signatures(api.app, 'sms', JSON.stringify(parts));
    await api.app.database.prisma.message.updateMany({ where: { accountId: acme.id, id: first.id }, data: { requestHash: requestHash! } });
    expect(dataOf(await given('key-in-order', one)).id).toBe(first.id);
    expect(messagesTo(api, `whatsapp:${phone}`)).toHaveLength(1);
  });
});
