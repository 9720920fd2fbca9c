import { afterAll, beforeAll, expect, it } from '@jest/globals';
import twilio from 'twilio';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { answer, answered, inboundMail, mailing } from '../support/inboundMail.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

// What strangers write with marks that stand apart, as Vietnamese keyboards do.
const name = 'Việt'.normalize('NFC');
const apart = name.normalize('NFD');

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account();
});
afterAll(() => api.close());

async function found(contactId: string, conditions: Loose): Promise<string[]> {
  const where = { contactId: { eq: contactId }, direction: { eq: 'inbound' }, ...conditions };
  const { data, errors } = await acme.owner.gql('query ($where: MessageWhere) { messages(where: $where) { nodes { body } } }', { where });
  expect(errors).toBeUndefined();
  return (data as Loose).messages.nodes.map(({ body }: Loose) => body.trim());
}

it('a mail is kept in the form of all texts, and found in either', async () => {
  const { sent, brought } = mailing(api, acme);
  const { contact, mail } = await sent();
  const raw = answer({ to: mail.replyTo }, `Greetings from ${apart} Nam`);
  const subject = `Subject: =?utf-8?B?${Buffer.from(apart).toString('base64')}?=`;
  expect(answered(await brought(raw.replace(/Subject: .*/, subject)))).toEqual({ taken: true });
  for (const part of [name, apart])
    expect(await found(contact.id, { body: { contains: part }, subject: { eq: part } })).toEqual([`Greetings from ${name} Nam`]);
});

it('a text message is kept in the form of all texts, and found in either', async () => {
  const [free] = dataOf(await acme.owner.get('/settings/numbers/available'));
  const { number: ours } = dataOf(await acme.owner.post('/settings/numbers', { number: free.number }));
  const { id, phone } = await acme.contact({ phone: '+14155550143' });
  const form = { From: phone, To: ours, Body: `${apart} Nam`, MessageSid: 'SM1' };
  const path = '/webhooks/twilio/sms';
  const { authToken } = await (api.app.vendors.sms as SimulatedSms).simulator.config();
  const signature = twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}${path}`, form);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
  const payload = new URLSearchParams(form).toString();
  expect((await api.anybody().raw({ method: 'POST', path, headers, payload })).status).toBe(200);
  for (const part of [name, apart]) expect(await found(id, { body: { contains: part } })).toEqual([`${name} Nam`]);
});
