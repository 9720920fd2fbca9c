import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import twilio from 'twilio';
import { v4 } from 'uuid';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { type Account, dataOf, type Loose, minute, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

let api: TestServer;
let acme: Account;
let ours: string;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const [free] = dataOf(await acme.owner.get('/settings/numbers/available'));
  ours = dataOf(await acme.owner.post('/settings/numbers', { number: free.number })).number;
});
afterAll(() => api.close());

let people = 0;
const nextNumber = () => `+1415888${String(++people).padStart(4, '0')}`;
const nextEmail = () => `Gone${++people}@Example.com`;

/** What the vendor tells. */
async function notice(path: string, form: Record<string, string>) {
  const { authToken } = await (api.app.vendors.sms as SimulatedSms).simulator.config();
  const signature = twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}${path}`, form);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
  const payload = new URLSearchParams(form).toString();
  expect((await api.anybody().raw({ method: 'POST', path, headers, payload })).status).toBe(200);
}

/** A text to our number, as the vendor brings it. */
const text = (From: string, Body: string) => notice('/webhooks/twilio/sms', { From, To: ours, Body, MessageSid: `SM${v4()}` });

const contact = (fields: Loose): Promise<Loose> => acme.contact({ firstName: 'Ann', ...fields });
const patch = async ({ id }: Loose, fields: Loose) => dataOf(await acme.owner.patch(`/contacts/${id}`, fields));
const now = async ({ id }: Loose) => dataOf(await acme.owner.get(`/contacts/${id}`));
const merge = async (primary: Loose, secondary: Loose) =>
  dataOf(await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: secondary.id }));
const texted = (to: Loose, fields: Loose = {}) => acme.owner.post('/messages/sms/send', { contactId: to.id, body: 'Hello', ...fields });
const mailed = (to: Loose) => acme.owner.post('/email/send', { contactId: to.id, subject: 'News', body: 'Hello' });
const outcomeOf = async (sent: Promise<Loose>) => {
  const { status, body } = await sent;
  return body.code ?? status;
};

/** What becomes of a text to somebody new with a number, and to somebody else who is written to there. */
const atNumber = async (phone: string) => [
  await outcomeOf(texted(await contact({ phone }))),
  await outcomeOf(texted(await contact({ phone: nextNumber() }), { toNumber: phone })),
];
/** The same of a mail, and of one to many. */
async function atEmail(email: string) {
  const { id } = await contact({ email: email.toLowerCase() });
  const many = dataOf(await acme.owner.post('/email/send-bulk', { contactIds: [id], subject: 'News', body: 'Hello' }));
  return [await outcomeOf(mailed({ id })), many.results[0].reason];
}
const refused = ['recipient_opted_out', 'recipient_opted_out'];

/** A mail to many that one contact gets, and its link that unsubscribes. */
async function linkOf({ id, email }: Loose): Promise<() => Promise<void>> {
  dataOf(await acme.owner.post('/email/send-bulk', { contactIds: [id], subject: 'News', body: 'Hello' }));
  const mail = await eventually(async () => (await mailsTo(api, email))[0]);
  const link = /<(.*)>/.exec(mail.headers['List-Unsubscribe'])![1]!;
  const path = link.slice(api.app.config.publicUrl.length);
  return async () => expect((await api.anybody().raw({ method: 'POST', path })).status).toBe(200);
}

/** The words that are kept of an address. */
const words = async (address: string) =>
  (
    await api.app.database.prisma.addressFact.findMany({
      where: { accountId: acme.id, address: address.toLowerCase() },
      orderBy: { seq: 'asc' },
    })
  ).map(({ holds }) => holds);

describe('what is known of an address', () => {
  it('is kept once for each time that it changes', async () => {
    const [ann, reader] = [await contact({ phone: nextNumber() }), await contact({ email: nextEmail() })];
    for (const word of ['yes', 'STOP', 'stop', 'START', 'Yes']) await text(ann.phone, word);
    const leave = await linkOf(reader);
    for (let n = 0; n < 2; n++) await leave();
    expect([await words(ann.phone), await words(reader.email)]).toEqual([[true, false], [true]]);
  });
});

describe('STOP of a number', () => {
  it('holds for it when the contact is merged into one with another number, until START', async () => {
    const [kept, gone] = [await contact({ phone: nextNumber() }), await contact({ phone: nextNumber() })];
    await text(gone.phone, 'STOP');
    await merge(kept, gone);
    expect(await atNumber(gone.phone)).toEqual(refused);
    expect((await now(kept)).optedOutSms).toBe(true);
    await text(gone.phone, 'START');
    expect(await atNumber(gone.phone)).toEqual([201, 201]);
    expect((await now(kept)).optedOutSms).toBe(false);
    expect(await outcomeOf(texted(kept))).toBe(201);
  });

  it('from two numbers of a contact is taken back for each by itself', async () => {
    const [kept, gone, last] = [
      await contact({ phone: nextNumber() }),
      await contact({ phone: nextNumber() }),
      await contact({ firstName: 'Z' }),
    ];
    await text(kept.phone, 'STOP');
    await text(gone.phone, 'STOP');
    await merge(kept, gone);
    await merge(last, kept);
    await text(gone.phone, 'START');
    expect(await atNumber(gone.phone)).toEqual([201, 201]);
    expect((await now(last)).optedOutSms).toBe(true);
    expect(await atNumber(kept.phone)).toEqual(refused);
    await text(kept.phone, 'START');
    expect((await now(last)).optedOutSms).toBe(false);
    expect(await atNumber(kept.phone)).toEqual([201, 201]);
  });

  it('holds for its number when the contact gets another one, and for the contact', async () => {
    const ann = await contact({ phone: nextNumber() });
    await text(ann.phone, 'STOP');
    const phone = nextNumber();
    await patch(ann, { phone });
    expect(await atNumber(ann.phone)).toEqual(refused);
    expect(await outcomeOf(texted(ann))).toBe('recipient_opted_out');
    await patch(ann, { phone: nextNumber() });
    expect(await atNumber(phone)).toEqual(refused);
    await text(ann.phone, 'START');
    expect(await atNumber(ann.phone)).toEqual([201, 201]);
  });
});

describe('an opt-out of text messages', () => {
  it('is undone by a person who takes the flag back, for the number that the contact has', async () => {
    const ann = await contact({ phone: nextNumber() });
    await text(ann.phone, 'STOP');
    await patch(ann, { optedOutSms: false });
    expect(await atNumber(ann.phone)).toEqual([201, 201]);
    await patch(ann, { optedOutSms: true });
    await patch(ann, { phone: nextNumber(), optedOutSms: false });
    expect(await outcomeOf(texted(ann))).toBe(201);
    expect(await atNumber(ann.phone)).toEqual(refused);
    const later = await contact({ phone: ann.phone });
    for (const optedOutSms of [true, false]) await patch(later, { optedOutSms });
    expect(await outcomeOf(texted(later))).toBe(201);
  });

  it('holds for the number where a contact was made with the flag, or got its number later', async () => {
    const [ann, bob] = [await contact({ phone: nextNumber(), optedOutSms: true }), await contact({ optedOutSms: true })];
    const second = await patch(bob, { phone: nextNumber() });
    for (const one of [ann, second]) {
      await patch(one, { phone: null });
      expect(await atNumber(one.phone)).toEqual(refused);
    }
  });

  it('holds for the number that a merge gives to who had none, until START', async () => {
    const [ann, gone] = [await contact({ optedOutSms: true }), await contact({ phone: nextNumber() })];
    await merge(ann, gone);
    expect(await now(ann)).toMatchObject({ phone: gone.phone, optedOutSms: true });
    await patch(ann, { phone: null });
    expect(await atNumber(gone.phone)).toEqual(refused);
    await text(gone.phone, 'START');
    expect(await atNumber(gone.phone)).toEqual([201, 201]);
  });
});

describe('an opt-out of e-mail', () => {
  it('holds for its address after a merge and after a change of the address', async () => {
    const [first, second] = [await contact({ email: nextEmail() }), await contact({ email: nextEmail() })];
    for (const one of [first, second]) await (await linkOf(one))();
    await merge(await contact({ email: nextEmail() }), first);
    await patch(second, { email: nextEmail() });
    expect(await atEmail(first.email)).toEqual(refused);
    expect(await atEmail(second.email)).toEqual(refused);
  });

  it('holds for the address that the mail went to, where the contact was merged or has another one by then', async () => {
    const [first, second] = [await contact({ email: nextEmail() }), await contact({ email: nextEmail() })];
    const [leaveFirst, leaveSecond] = [await linkOf(first), await linkOf(second)];
    await merge(await contact({ email: nextEmail() }), first);
    await patch(second, { email: nextEmail() });
    await leaveFirst();
    await leaveSecond();
    expect(await atEmail(first.email)).toEqual(refused);
    expect(await atEmail(second.email)).toEqual(refused);
  });

  it('holds for the address that its contact has by then as well, after a change of that one and after a merge', async () => {
    const [kept, changed, merged] = [
      await contact({ email: nextEmail() }),
      await contact({ email: nextEmail() }),
      await contact({ email: nextEmail() }),
    ];
    for (const one of [changed, merged]) {
      const leave = await linkOf(one);
      const later = await patch(one, { email: nextEmail() });
      for (let n = 0; n < 2; n++) await leave();
      await (one === merged ? merge(kept, one) : patch(one, { email: nextEmail() }));
      expect(await atEmail(later.email)).toEqual(refused);
      expect([await words(one.email), await words(later.email)]).toEqual([[true], [true]]);
    }
  });

  it('is taken back by a person for the address that the contact has, however it is spelled', async () => {
    const ann = await contact({ email: nextEmail(), optedOutEmail: true });
    await patch(ann, { email: ann.email.toUpperCase(), optedOutEmail: false });
    expect(await atEmail(ann.email)).toEqual([200, null]);
  });

  it('holds for the address that a merge gives to who had none', async () => {
    const [ann, gone] = [await contact({ optedOutEmail: true }), await contact({ email: nextEmail() })];
    await merge(ann, gone);
    await patch(ann, { email: null });
    expect(await atEmail(gone.email)).toEqual(refused);
  });
});

describe('while the account is suspended', () => {
  const whileSuspended = async (work: () => Promise<void>) => {
    const suspend = (suspendedAt: Date | null) => api.app.database.prisma.account.update({ where: { id: acme.id }, data: { suspendedAt } });
    await suspend(api.clock.now());
    await work().finally(() => suspend(null));
  };

  it('STOP, START and unsubscribing are heard, and nothing else that is written is kept', async () => {
    const [ann, bob, reader] = [
      await contact({ phone: nextNumber() }),
      await contact({ phone: nextNumber() }),
      await contact({ email: nextEmail() }),
    ];
    await text(bob.phone, 'STOP');
    const leave = await linkOf(reader);
    await whileSuspended(async () => {
      await text(ann.phone, 'Stop.');
      await text(bob.phone, 'START');
      await text(bob.phone, 'Hello');
      await leave();
    });
    expect([await words(ann.phone), await words(bob.phone), await words(reader.email)]).toEqual([[true], [true, false], [true]]);
    expect([(await now(ann)).optedOutSms, (await now(bob)).optedOutSms, (await now(reader)).optedOutEmail]).toEqual([true, false, true]);
    const { data } = dataOf(await acme.owner.get(`/messages?contact_id=${bob.id}`));
    expect(data.map(({ body }: Loose) => body).sort()).toEqual(['START', 'STOP']);
  });

  it('what became of a text is kept', async () => {
    const { id, providerId } = dataOf(await texted(await contact({ phone: nextNumber() })));
    const form = { MessageSid: providerId, MessageStatus: 'delivered' };
    await whileSuspended(() => notice(`/webhooks/twilio/status/${acme.id}/${id}`, form));
    expect(dataOf(await acme.owner.get(`/messages/sms/${id}`))).toMatchObject({ status: 'delivered' });
  });
});

it('keeps what is known of a number that a merge or a change takes away: a landline', async () => {
  const phones = [nextNumber(), nextNumber()];
  for (const [n, phone] of phones.entries()) {
    const ann = await contact({ phone });
    const { simulator } = api.app.vendors.sms as SimulatedSms;
    simulator.will({ kind: 'refuse', status: 400, code: 21614 });
    dataOf(await texted(ann));
    await (n === 0 ? patch(ann, { phone: nextNumber() }) : merge(await contact({ phone: nextNumber() }), ann));
    expect(await atNumber(phone)).toEqual(['landline', 'landline']);
  }
});

it('keeps that a carrier found a number opted out which is not the contact’s', async () => {
  const [ann, phone] = [await contact({ phone: nextNumber() }), nextNumber()];
  (api.app.vendors.sms as SimulatedSms).simulator.will({ kind: 'refuse', status: 400, code: 21610 });
  dataOf(await texted(ann, { toNumber: phone }));
  expect(await atNumber(phone)).toEqual(refused);
});

it('takes what a carrier says of a number that is not the contact’s for that number alone, until START', async () => {
  const [ann, bob] = [await contact({ phone: nextNumber() }), await contact({ phone: nextNumber() })];
  (api.app.vendors.sms as SimulatedSms).simulator.will({ kind: 'refuse', status: 400, code: 21610 });
  expect(dataOf(await texted(ann, { toNumber: bob.phone }))).toMatchObject({ status: 'failed', error: 'recipient_opted_out' });
  expect([(await now(ann)).optedOutSms, (await now(bob)).optedOutSms]).toEqual([false, true]);
  expect(await outcomeOf(texted(ann))).toBe(201);
  await text(bob.phone, 'START');
  expect((await now(bob)).optedOutSms).toBe(false);
  expect(await atNumber(bob.phone)).toEqual([201, 201]);
});

it('says nothing of a number where it is the contact that opted out while a text there waited', async () => {
  const [ann, bob] = [await contact({ phone: nextNumber() }), await contact({ phone: nextNumber() })];
  (api.app.vendors.sms as SimulatedSms).simulator.will({ kind: 'refuse', status: 429, code: 20429 });
  const { id } = dataOf(await texted(ann, { toNumber: bob.phone }));
  await patch(ann, { optedOutSms: true });
  api.clock.advance(minute);
  await eventually(async () => dataOf(await acme.owner.get(`/messages/sms/${id}`)).status === 'failed');
  api.clock.reset();
  expect([await words(bob.phone), (await now(bob)).optedOutSms]).toEqual([[], false]);
  expect(await outcomeOf(texted(bob))).toBe(201);
});
