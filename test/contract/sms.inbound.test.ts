import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import twilio from 'twilio';
import { v4 } from 'uuid';
import type { SimulatedSms } from '../../src/vendors/sms/simulated.js';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

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
const nextNumber = () => `+1415777${String(++people).padStart(4, '0')}`;

/** A notice of the vendor, signed as it signs. */
async function notice(path: string, form: Record<string, string>, signature?: string) {
  const { authToken } = await (api.app.vendors.sms as SimulatedSms).simulator.config();
  const signed = signature ?? twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}${path}`, form);
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signed };
  return api.anybody().raw({ method: 'POST', path, headers, payload: new URLSearchParams(form).toString() });
}

const text = (From: string, Body: string, MessageSid = `SM${v4()}`) => notice('/webhooks/twilio/sms', { From, To: ours, Body, MessageSid });
const listed = async (contactId: string): Promise<Loose[]> => dataOf(await acme.owner.get(`/messages?contact_id=${contactId}`)).data;
const byPhone = async (phone: string) => dataOf(await acme.owner.get(`/contacts?search=${encodeURIComponent(phone)}`)).data[0];
const report = (id: string, form: Record<string, string>) => notice(`/webhooks/twilio/status/${acme.id}/${id}`, form);

describe('a text message to a number of the workspace', () => {
  it('stands in the thread of the contact with that number', async () => {
    const phone = nextNumber();
    const { id } = await acme.contact({ phone });
    expect((await text(phone, 'Hello there')).status).toBe(200);
    const [message] = await listed(id);
    expect(message).toMatchObject({
      body: 'Hello there',
      direction: 'inbound',
      status: 'received',
      fromNumber: phone,
      toNumber: ours,
      userId: null,
    });
    const conversation = dataOf(await acme.owner.get(`/conversations/${id}`));
    expect(conversation).toMatchObject({ conversationState: 'awaiting_reply', unreadCount: 1 });
    const entry = await api.app.database.prisma.activity.findFirstOrThrow({ where: { accountId: acme.id, entityId: message!.id } });
    expect(entry).toMatchObject({ userId: null, userName: 'SMS' });
  });

  it('says which pictures came with it, also where it has no words', async () => {
    const phone = nextNumber();
    const { id } = await acme.contact({ phone });
    const [url, contentType] = ['https://api.twilio.com/media/ME1', 'image/jpeg'];
    const form = { From: phone, To: ours, Body: '', MessageSid: `SM${v4()}`, NumMedia: '2' };
    await notice('/webhooks/twilio/sms', { ...form, MediaUrl0: url, MediaContentType0: contentType, MediaUrl1: `${url}2` });
    const media = [
      { url, contentType },
      { url: `${url}2`, contentType: null },
    ];
    expect((await listed(id))[0]).toMatchObject({ body: 'No text', metadata: { media } });
    expect(dataOf(await acme.owner.get(`/conversations/${id}`)).messages[0]).toMatchObject({ body: 'No text' });
  });

  it('makes its sender a contact, whatever the plan', async () => {
    const small = await api.seed.account({ plan: 'trial' });
    await api.app.database.prisma.account.update({ where: { id: small.id }, data: { trialEndsAt: new Date(0) } });
    const number = '+14155550102';
    await api.app.database.prisma.phoneNumber.create({ data: { accountId: small.id, number, provider: 'twilio' } });
    const phone = nextNumber();
    expect((await notice('/webhooks/twilio/sms', { From: phone, To: number, Body: 'Hi', MessageSid: 'SM1' })).status).toBe(200);
    const { data } = dataOf(await small.owner.get('/contacts'));
    expect(data).toMatchObject([{ phone, source: 'sms', leadScore: 15 }]);
  });

  it('counts once however often it is told', async () => {
    const phone = nextNumber();
    const sid = `SM${v4()}`;
    await Promise.all(Array.from({ length: 5 }, () => text(phone, 'Once', sid)));
    await text(phone, 'Once', sid);
    const { id } = await byPhone(phone);
    expect(await listed(id)).toHaveLength(1);
  });

  it('is not believed without the signature, and of nobody’s number not kept', async () => {
    await expectNothingWritten(api, async () => {
      const form = { From: nextNumber(), To: ours, Body: 'Forged', MessageSid: 'SM9' };
      expectRefusal(await notice('/webhooks/twilio/sms', form, 'forged'), 403);
      expectRefusal(await notice('/webhooks/twilio/sms', { ...form, Body: 'x' }, await signatureOf(form)), 403);
      expect((await notice('/webhooks/twilio/sms', { ...form, To: '+14155559999' })).status).toBe(200);
    });
  });
});

describe('a text message from a number that several contacts have', () => {
  it('is of the one to whom our number last wrote, else of the oldest', async () => {
    const phone = nextNumber();
    const [oldest, newer, deleted] = [await acme.contact({ phone }), await acme.contact({ phone }), await acme.contact({ phone })];
    const write = async ({ id: contactId }: Loose, fields: Loose = {}) =>
      dataOf(await acme.owner.post('/messages/sms/send', { contactId, body: 'Hello', fromNumber: ours, ...fields }));
    const came = async () => {
      const threads = await Promise.all([oldest, newer].map(({ id }) => listed(id)));
      return threads.map((thread) => thread.filter(({ direction }) => direction === 'inbound').length);
    };
    await text(phone, 'First');
    for (const one of [oldest, newer, deleted]) await write(one);
    await write(oldest, { toNumber: nextNumber() });
    dataOf(await acme.owner.del(`/contacts/${deleted.id}`));
    await text(phone, 'To the one whom you wrote to');
    expect(await came()).toEqual([1, 1]);
    await write(oldest);
    await text(phone, 'And now to the other one');
    expect(await came()).toEqual([2, 1]);
    dataOf(await acme.owner.patch(`/contacts/${oldest.id}`, { phone: nextNumber() }));
    await text(phone, 'STOP');
    expect(await came()).toEqual([2, 2]);
  });
});

describe('a text message from what is no number', () => {
  const called = async (name: string): Promise<Loose[]> => {
    const { data } = dataOf(await acme.owner.get(`/contacts?search=${encodeURIComponent(name)}`));
    return data.filter(({ firstName }: Loose) => firstName === name);
  };

  it.each(['40404', 'Telekom', 'rcs:brand_agent'])(
    'such as %s is kept for a contact that is called so, and has no number',
    async (sender) => {
      const replies = await Promise.all(['Your code is 1', 'Your code is 2', 'STOP'].map((words) => text(sender, words)));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
      const contacts = await called(sender);
      expect(contacts).toMatchObject([{ phone: null, source: 'sms', optedOutSms: false }]);
      const kept = await listed(contacts[0]!.id);
      expect(kept.map(({ body }) => body).sort()).toEqual(['STOP', 'Your code is 1', 'Your code is 2']);
      expect(kept[0]).toMatchObject({ fromNumber: sender, toNumber: ours, status: 'received' });
      expectRefusal(await acme.owner.post('/messages/sms/send', { contactId: contacts[0]!.id, body: 'Hi' }), 422, 'contactId');
    },
  );

  it('is not that of a person of the same name', async () => {
    const { id } = await acme.contact({ firstName: '51515', phone: nextNumber() });
    await text('51515', 'Your code is 3');
    expect((await called('51515')).map((one) => one.id === id)).toEqual(expect.arrayContaining([true, false]));
    expect(await listed(id)).toEqual([]);
  });
});

describe('notices that the vendor did not sign', () => {
  it('are small, have few parameters, and are limited by their address; those that it signed are not', async () => {
    const few = await server({ limits: { general: 3 } });
    const { authToken } = await (few.app.vendors.sms as SimulatedSms).simulator.config();
    const send = (form: Record<string, string>, signature?: string) => {
      const signed = signature ?? twilio.getExpectedTwilioSignature(authToken, `${few.app.config.publicUrl}/webhooks/twilio/sms`, form);
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signed };
      return few.anybody().raw({ method: 'POST', path: '/webhooks/twilio/sms', headers, payload: new URLSearchParams(form).toString() });
    };
    const form = { From: nextNumber(), To: '+14155559999', Body: 'Hi', MessageSid: 'SM10' };
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`p${i}`, 'x']));
    expect((await send({ ...form, Body: 'x'.repeat(65 * 1024) })).status).toBe(413);
    expectRefusal(await send(many), 403);
    for (let i = 0; i < 2; i++) expectRefusal(await send(form, 'forged'), 403);
    expectRefusal(await send(form, 'forged'), 429);
    for (let i = 0; i < 5; i++) expect((await send(form)).status).toBe(200);
    await few.close();
  });
});

describe('a text message in whose way another write gets', () => {
  it('is kept all the same: its vendor may not bring it again', async () => {
    const { database } = api.app;
    await database.execute(`
      create sequence deadlocks;
      create function deadlock() returns trigger language plpgsql as $$ begin
        if nextval('deadlocks') < 3 then raise exception using errcode = '40P01'; end if; return new; end $$;
      create trigger deadlock before insert on messages for each row execute function deadlock();`);
    const phone = nextNumber();
    expect((await text(phone, 'In the way')).status).toBe(200);
    await database.execute('drop trigger deadlock on messages');
    expect(await listed((await byPhone(phone)).id)).toMatchObject([{ body: 'In the way' }]);
  });
});

describe('STOP and START', () => {
  it.each(['START', 'unstop', ' Yes '])('opt out, and in again by %j', async (words) => {
    const phone = nextNumber();
    await text(phone, ' Stop ');
    expect((await byPhone(phone)).optedOutSms).toBe(true);
    await text(phone, words);
    expect((await byPhone(phone)).optedOutSms).toBe(false);
  });

  it.each(['STOP!', '"Stop."', 'Stop all', 'OPT-OUT', 'optout', 'Revoke', 'END', 'Cancel', 'UNSUBSCRIBE', 'quit…'.replace('…', '...')])(
    'opt out by %s',
    async (words) => {
      const phone = nextNumber();
      await text(phone, words);
      expect((await byPhone(phone)).optedOutSms).toBe(true);
    },
  );

  it.each(['Stop please', 'Cancel?', 'Please end it', 'stop'.repeat(20), ''])('are not meant by %j', async (words) => {
    const phone = nextNumber();
    await text(phone, words);
    expect((await byPhone(phone)).optedOutSms).toBe(false);
  });

  it('count for every contact with that number, deleted ones among them', async () => {
    const phone = nextNumber();
    const contacts = [await acme.contact({ phone }), await acme.contact({ phone }), await acme.contact({ phone })];
    dataOf(await acme.owner.del(`/contacts/${contacts[2]!.id}`));
    await text(phone, 'STOP');
    dataOf(await acme.owner.post(`/contacts/${contacts[2]!.id}/restore`));
    for (const { id } of contacts) expect(dataOf(await acme.owner.get(`/contacts/${id}`)).optedOutSms).toBe(true);
    const { activity } = api.app.database.prisma;
    const told = await activity.findMany({ where: { accountId: acme.id, entityId: contacts[1]!.id, action: 'updated' } });
    expect(told).toMatchObject([{ userName: 'SMS', changes: { optedOutSms: { from: false, to: true } } }]);
  });
});

async function signatureOf(form: Record<string, string>) {
  const { authToken } = await (api.app.vendors.sms as SimulatedSms).simulator.config();
  return twilio.getExpectedTwilioSignature(authToken, `${api.app.config.publicUrl}/webhooks/twilio/sms`, form);
}

describe('a report of the vendor', () => {
  const sent = async () => {
    const { id: contactId } = await acme.contact({ phone: nextNumber() });
    return dataOf(await acme.owner.post('/messages/sms/send', { contactId, body: 'Hello' }));
  };
  const now = async (id: string) => dataOf(await acme.owner.get(`/messages/sms/${id}`));

  it('moves a message forward, and never back', async () => {
    const { id, providerId, fromNumber } = await sent();
    expect(fromNumber).toBe(ours);
    await report(id, { MessageSid: providerId, MessageStatus: 'delivered' });
    const delivered = await now(id);
    expect(delivered).toMatchObject({ status: 'delivered' });
    expect(delivered.deliveredAt).not.toBeNull();
    for (const late of ['queued', 'sent', 'undelivered']) await report(id, { MessageSid: providerId, MessageStatus: late });
    expect(await now(id)).toEqual(delivered);
  });

  it('opts out a contact that was deleted meanwhile', async () => {
    const { id, providerId, contactId } = await sent();
    dataOf(await acme.owner.del(`/contacts/${contactId}`));
    const reply = await report(id, { MessageSid: providerId, MessageStatus: 'failed', ErrorCode: '21610' });
    expect(reply.status).toBe(200);
    expect(dataOf(await acme.owner.post(`/contacts/${contactId}/restore`)).optedOutSms).toBe(true);
  });

  it('tells what was not delivered, and marks a landline', async () => {
    const { id, providerId, contactId } = await sent();
    await report(id, { MessageSid: providerId, MessageStatus: 'undelivered', ErrorCode: '30006' });
    expect(await now(id)).toMatchObject({ status: 'failed', error: 'landline' });
    expect((await acme.owner.post('/messages/sms/send', { contactId, body: 'Again' })).body.code).toBe('landline');
  });

  it('settles a message of which nobody knew whether it was sent', async () => {
    (api.app.vendors.sms as SimulatedSms).simulator.will({ kind: 'fail', status: 503 });
    const { id, error } = await sent();
    expect(error).toBe('unconfirmed');
    await report(id, { MessageSid: 'SMsettled', MessageStatus: 'sent' });
    expect(await now(id)).toMatchObject({ status: 'sent', error: null, providerId: 'SMsettled' });
  });

  it('is not believed without the signature', async () => {
    const { id } = await sent();
    expectRefusal(await notice(`/webhooks/twilio/status/${acme.id}/${id}`, { MessageStatus: 'failed' }, 'forged'), 403);
    expect((await now(id)).status).toBe('sent');
  });
});

describe('the numbers of a workspace', () => {
  it('are claimed once, and given back', async () => {
    const other = await api.seed.account();
    expectRefusal(await other.owner.post('/settings/numbers', { number: ours }), 409);
    expectRefusal(await other.owner.post('/settings/numbers', { number: '+14155559999' }), 400, 'number');
    expectRefusal(await (await other.member()).post('/settings/numbers', { number: '+14155550101' }), 403);
    const { id } = dataOf(await other.owner.post('/settings/numbers', { number: '+14155550101', label: 'Desk' }));
    expect(dataOf(await other.owner.get('/settings/numbers')).data).toMatchObject([{ id, number: '+14155550101', label: 'Desk' }]);
    expectRefusal(await acme.owner.del(`/settings/numbers/${id}`), 404);
    dataOf(await other.owner.del(`/settings/numbers/${id}`));
    expect(dataOf(await other.owner.get('/settings/numbers/available')).map((n: Loose) => n.number)).toContain('+14155550101');
  });

  it('may be claimed by a member whose permissions say so', async () => {
    const member = await acme.member();
    expectRefusal(await member.get('/settings/numbers/available'), 403);
    await api.app.database.prisma.membership.updateMany({
      where: { accountId: acme.id, userId: member.userId },
      data: { permissions: { 'settings:edit': true } },
    });
    api.clock.advance(0);
    expect((await member.get('/settings/numbers/available')).status).toBe(200);
  });
});
