import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { Client, dataOf, type Loose, password } from '../support/index.js';
import { eventually } from '../support/live.js';
import { freePort, Simulators } from '../support/simulators.js';

let vendors: Simulators;
let crm: Alone;
beforeAll(async () => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  vendors = await Simulators.begin(publicUrl);
  crm = await Alone.begin({ ...vendors.settings, PORT: String(port), PUBLIC_URL: publicUrl });
  dataOf(await crm.caller.post('/settings/numbers', { number: vendors.settings.TWILIO_FROM }));
});
afterAll(async () => {
  await crm.end();
  await vendors.end();
});

let people = 0;
const person = async (): Promise<Loose> =>
  dataOf(
    await crm.caller.post('/contacts', { email: `person${++people}@example.com`, phone: `+1415777${String(people).padStart(4, '0')}` }),
  );
const text = async (contactId: string, more: Loose = {}) =>
  dataOf(await crm.caller.post('/messages/sms/send', { contactId, body: 'Hello', ...more }));
const mail = async (contactId: string) => dataOf(await crm.caller.post('/email/send', { contactId, subject: 'Offer ✓', body: 'Hello' }));
const kept = async (id: string): Promise<Loose> => {
  const { data } = await crm.caller.gql('query ($id: ID!) { message(id: $id) { status error } }', { id });
  return data.message;
};
const thread = async (contactId: string): Promise<Loose[]> => dataOf(await crm.caller.get(`/conversations/${contactId}`)).messages;

describe('npm run vendors: text messages', () => {
  it('are taken in the wire form of the vendor, each one file', async () => {
    const { id, phone } = await person();
    expect((await text(id)).status).toBe('sent');
    expect(vendors.sentTo(phone)).toMatchObject([{ channel: 'sms', from: vendors.settings.TWILIO_FROM, body: 'Hello' }]);
  });

  it('are answered and reported on, signed', async () => {
    const { id, phone } = await person();
    const sent = await text(id);
    expect(await vendors.tell('sms', 'report', { to: phone, status: 'delivered' })).toEqual({ status: 200 });
    expect(await kept(sent.id)).toMatchObject({ status: 'delivered' });
    expect(await vendors.tell('sms', 'reply', { from: phone, body: 'Thanks' })).toEqual({ status: 200 });
    expect((await thread(id)).map(({ direction, body }) => [direction, body])).toEqual([
      ['outbound', 'Hello'],
      ['inbound', 'Thanks'],
    ]);
  });

  it('opt out by whatever their vendor took for STOP', async () => {
    const { id, phone } = await person();
    expect(await vendors.tell('sms', 'reply', { from: phone, body: 'ARRET', optOutType: 'STOP' })).toEqual({ status: 200 });
    expect(dataOf(await crm.caller.get(`/contacts/${id}`)).optedOutSms).toBe(true);
  });

  it('are refused, throttled and failed as they are told', async () => {
    const { id } = await person();
    const outcome = async (behaviour: Loose) => {
      await vendors.tell('sms', 'next', behaviour);
      const { status, error } = await text(id);
      return [status, error];
    };
    expect(await outcome({ kind: 'refuse', status: 400, code: 21211 })).toEqual(['failed', 'refused']);
    expect(await outcome({ kind: 'refuse', status: 429, code: 20429 })).toEqual(['queued', 'throttled']);
    // The queue of the number is full.
    expect(await outcome({ kind: 'refuse', status: 400, code: 21611 })).toEqual(['queued', 'throttled']);
    // A token that is not right yet, or an account that was suspended: the message is not at fault.
    expect(await outcome({ kind: 'refuse', status: 401, code: 20003 })).toEqual(['queued', 'unavailable']);
    expect(await outcome({ kind: 'refuse', status: 403, code: 20005 })).toEqual(['queued', 'unavailable']);
    expect(await outcome({ kind: 'fail', status: 503 })).toEqual(['sending', 'unconfirmed']);
  });
});

describe('npm run vendors: a number', () => {
  it('routes its calls nowhere until it is wired, and says by what it is', async () => {
    const { phone: from } = await person();
    const to = vendors.settings.TWILIO_FROM;
    const { message } = await vendors.tell('sms', 'calls', { from, to });
    expect(message).toContain(`${to} routes its calls nowhere: POST /api/v1/call-flows/{id}/wiring routes`);
  });

  it('tells nobody of its texts until it is claimed', async () => {
    const [, { number: to }] = dataOf(await crm.caller.get('/settings/numbers/available'));
    const { id, phone: from } = await person();
    const reply = () => vendors.tell('sms', 'reply', { from, to, body: 'Anybody?' });
    expect(await reply()).toEqual({ message: `${to} tells nobody of its texts` });
    expect(dataOf(await crm.caller.post('/settings/numbers', { number: to }))).toMatchObject({ textsCome: true });
    expect(await reply()).toEqual({ status: 200 });
    expect((await thread(id)).map(({ body }) => body)).toEqual(['Anybody?']);
  });
});

describe('npm run vendors: e-mails', () => {
  it('are taken over SMTP, each Message-ID one file', async () => {
    const { id, email } = await person();
    const { status } = await mail(id);
    expect(status).toBe('sent');
    expect(vendors.sentTo(email)).toMatchObject([{ channel: 'email', subject: 'Offer ✓', body: 'Hello', from: 'no-reply@localhost' }]);
  });

  it('are answered, and come back', async () => {
    const [ann, ben] = [await person(), await person()];
    const [, sent] = [await mail(ann.id), await mail(ben.id)];
    expect(await vendors.tell('mail', 'reply', { to: ann.email, body: 'Gern, grüße' })).toEqual({ status: 200 });
    expect((await thread(ann.id)).map(({ body, subject }) => [body.trim(), subject])).toEqual([
      ['Hello', 'Offer ✓'],
      ['Gern, grüße', 'Re: Offer ✓'],
    ]);
    expect(await vendors.tell('mail', 'bounce', { to: ben.email })).toEqual({ status: 200 });
    expect(await kept(sent.id)).toMatchObject({ status: 'failed', error: 'bounced' });
    expect(await vendors.tell('mail', 'complain', { to: ann.email })).toEqual({ status: 200 });
    expect(dataOf(await crm.caller.get(`/contacts/${ann.id}`)).optedOutEmail).toBe(true);
  });

  it('are refused for good or for now as they are told', async () => {
    const { id, email } = await person();
    await vendors.tell('mail', 'next', { kind: 'refuse', status: 550 });
    expect(await mail(id)).toMatchObject({ status: 'failed', error: 'refused' });
    await vendors.tell('mail', 'next', { kind: 'refuse', status: 451 });
    expect(await mail(id)).toMatchObject({ status: 'queued', error: 'mail_server_unavailable' });
    // It wants a login, whatever the mail.
    await vendors.tell('mail', 'next', { kind: 'refuse', status: 530 });
    expect(await mail(id)).toMatchObject({ status: 'queued', error: 'mail_server_unavailable' });
    expect(vendors.sentTo(email)).toEqual([]);
  });
});

describe('npm run vendors: lines', () => {
  it('take a message once under its key', async () => {
    const { id, phone } = await person();
    const userId = dataOf(await crm.caller.get('/users')).data[0].id;
    dataOf(await crm.caller.put('/settings/vendor-line', { apiKey: 'line_acme' }));
    dataOf(await crm.caller.put('/settings/vendor-line/lines/acme-1', { userId }));
    const sent = await text(id, { transport: 'vendor_line', idempotencyKey: 'by the line' });
    expect([sent.status, vendors.sentTo(phone)]).toMatchObject(['sent', [{ line: 'acme-1', body: 'Hello' }]]);
    expect(await text(id, { transport: 'vendor_line', idempotencyKey: 'by the line' })).toEqual(sent);
    expect(vendors.sentTo(phone)).toHaveLength(1);
  });
});

describe('npm run vendors: Stripe', () => {
  it('sells a plan on its page, takes the money, and tells what became of the subscription', async () => {
    const owner = new Client(crm.wire);
    dataOf(await owner.post('/auth/login', { email: 'alone@example.com', password }));
    const { url } = dataOf(await owner.post('/billing/checkout', { planId: 'premium' }));
    const page = await fetch(url, { redirect: 'manual' });
    expect([page.status, page.headers.get('location')]).toEqual([303, expect.stringContaining('/billing?checkout=success')]);
    const { plan, billingStatus, invoiceHistory } = dataOf(await owner.get('/billing/status'));
    expect([plan, billingStatus, invoiceHistory.length]).toEqual(['premium', 'active', 1]);
    const { id } = dataOf(await crm.caller.get('/api-keys/check')).workspace;
    expect(await vendors.tell('stripe', 'subscription', { customer: `cus_${id}`, status: 'past_due' })).toEqual({ status: 200 });
    expect(dataOf(await owner.get('/billing/status')).billingStatus).toBe('past_due');
    expect(await vendors.tell('stripe', 'cancel', { customer: `cus_${id}` })).toEqual({ status: 200 });
    expect(dataOf(await owner.get('/billing/status')).endsAt).not.toBeNull();
    expect(await vendors.tell('stripe', 'card', { customer: `cus_${id}`, card: 'refused' })).toEqual({ status: 200 });
    expect((await owner.post('/billing/checkout', { planId: 'enterprise' })).status).toBe(402);
  });
});

it('npm run vendors prints what to set and where to tell them', async () => {
  await eventually(() => vendors.output.includes('# Ready'));
  expect(Object.keys(vendors.settings).sort()).toEqual([
    ...['INBOUND_MAIL_DOMAIN', 'INBOUND_MAIL_SECRET', 'SMTP_URL', 'STRIPE_API_BASE', 'STRIPE_PRICE_ENTERPRISE_MONTHLY'],
    ...['STRIPE_PRICE_ENTERPRISE_YEARLY', 'STRIPE_PRICE_PREMIUM_MONTHLY', 'STRIPE_PRICE_PREMIUM_YEARLY', 'STRIPE_PRICE_STANDARD_MONTHLY'],
    ...['STRIPE_PRICE_STANDARD_YEARLY', 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
    ...['TWILIO_ACCOUNT_SID', 'TWILIO_API_BASE', 'TWILIO_AUTH_TOKEN'],
    ...['TWILIO_FROM', 'VENDOR_LINE_URL'],
  ]);
});
