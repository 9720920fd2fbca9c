import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
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
