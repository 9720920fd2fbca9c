import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type KeyClient,
  type Loose,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let reader: KeyClient;
let tagger: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  reader = await acme.key({ permission: 'read' });
  tagger = await acme.key({ scopes: ['tags'] });
});
afterAll(() => api.close());

const nobody = '00000000-0000-7000-8000-000000000000';

it.each([
  ['PATCH', `/contacts/${nobody}`, { email: 'x' }, { email: 'x@example.com' }],
  ['POST', `/contacts/${nobody}/tags`, { tagIds: ['x'] }, { tagIds: [nobody] }],
  ['POST', '/contacts/merge', { primaryId: 'x', secondaryId: 'y' }, { primaryId: nobody, secondaryId: nobody.replace('7', '8') }],
])('%s %s answers 401 before 403 before 400 before 404', async (method, path, wrong, right) => {
  await expectNothingWritten(api, async () => {
    expectRefusal(await api.anybody().send(method, path, wrong), 401);
    expectRefusal(await reader.send(method, path, wrong), 403);
    expectRefusal(await tagger.send(method, path, wrong), 403);
    expectRefusal(await acme.owner.send(method, path, wrong), 400);
    expectRefusal(await acme.owner.send(method, path, right), 404);
  });
});

it.each([
  ['half an object', '{"email":'],
  ['more than a megabyte', `"${'x'.repeat(1_100_000)}"`],
])('a body of %s is not looked at for who may not send it', async (_what, payload) => {
  const headers = { 'content-type': 'application/json', 'content-length': String(payload.length) };
  const raw = { method: 'POST', path: '/api/v1/contacts', payload, headers };
  expectRefusal(await api.anybody().raw(raw), 401);
  expectRefusal(await reader.raw(raw), 403);
});

it('a key of the right scope is served, and one of another scope refused, by every method', async () => {
  const key = await acme.key({ scopes: ['contacts'], permission: 'write' });
  const { id } = await acme.contact();
  expect((await key.get(`/contacts/${id}`)).status).toBe(200);
  expect((await key.patch(`/contacts/${id}`, { city: 'Rome' })).status).toBe(200);
  await expectNothingWritten(api, async () => {
    for (const method of ['GET', 'PATCH', 'DELETE']) expectRefusal(await tagger.send(method, `/contacts/${id}`), 403);
    for (const method of ['PATCH', 'DELETE']) expectRefusal(await reader.send(method, `/contacts/${id}`), 403);
  });
  expect((await reader.get(`/contacts/${id}`)).status).toBe(200);
  expect((await key.del(`/contacts/${id}`)).status).toBe(200);
});

it('an unknown method on a known path is 404, and a method is not changed by a header', async () => {
  const { id } = await acme.contact();
  expectRefusal(await acme.owner.put(`/contacts/${id}`, { city: 'Rome' }), 404);
  const reply = await acme.owner.get(`/contacts/${id}`, { 'x-http-method-override': 'DELETE' });
  expect([reply.status, reply.body.data.id]).toEqual([200, id]);
  const head = await acme.owner.raw({ method: 'HEAD', path: `/api/v1/contacts/${id}` });
  expect([head.status, head.text]).toEqual([200, '']);
});

describe('a text message', () => {
  const numbers: [string, (own: string, theirs: string) => Loose][] = [
    ['fromkPhoneNumberId', () => ({ fromkPhoneNumberId: nobody })],
    ['smsProviderId', () => ({ smsProviderId: nobody })],
    ['fromNumber', (_own, theirs) => ({ fromNumber: theirs })],
    ['fromNumber', (own, theirs) => ({ fromkPhoneNumberId: own, fromNumber: theirs })],
  ];

  it('of a number that is not ours is 400 before 402, and before what its contact says', async () => {
    const [other, trial] = [await api.seed.account(), await api.seed.account({ plan: 'trial' })];
    const free: Loose[] = dataOf(await other.owner.get('/settings/numbers/available'));
    const claim = async (by: Account, at: number) => dataOf(await by.owner.post('/settings/numbers', { number: free.at(at)!.number }));
    const [theirs, own] = [await claim(other, -1), await claim(trial, -2)];
    const { id: contactId } = await trial.contact({ phone: '+14155550177', optedOutSms: true });
    const send = (fields: Loose) => trial.owner.post('/messages/sms/send', { contactId, body: 'Hello', ...fields });
    await expectNothingWritten(api, async () => {
      for (const [field, named] of numbers) expectRefusal(await send(named(own.id, theirs.number)), 400, field);
      expect((await send({ fromkPhoneNumberId: own.id })).body.code).toBe('recipient_opted_out');
    });
    await api.app.database.prisma.account.update({ where: { id: trial.id }, data: { trialEndsAt: new Date(0) } });
    api.clock.advance(0);
    await expectNothingWritten(api, async () => {
      for (const [field, named] of numbers) expectRefusal(await send(named(own.id, theirs.number)), 400, field);
      expectRefusal(await send({ fromkPhoneNumberId: own.id }), 402);
      expectRefusal(await send({ fromkPhoneNumberId: own.id, contactId: nobody }), 400, 'contactId');
    });
  });
});

it('a mail to a contact without an address is 400 before what its contact says', async () => {
  const { id: contactId } = await acme.contact({ firstName: 'Ada', doNotContact: true });
  const mail = { contactId, subject: 'Hi', body: 'Hello' };
  await expectNothingWritten(api, async () => expectRefusal(await acme.owner.post('/email/send', mail), 400, 'contactId'));
  dataOf(await acme.owner.patch(`/contacts/${contactId}`, { email: 'ada@order.example' }));
  expect((await acme.owner.post('/email/send', mail)).body.code).toBe('do_not_contact');
});

it('who may not send mail yet does not learn what would have been valid', async () => {
  const strict = await server({ config: { requireVerifiedEmail: true } });
  const account = await strict.seed.account();
  const { id: contactId } = await account.contact();
  const past = { contactId, subject: 'Hi', body: 'Hello', scheduledAt: '2020-01-01T00:00:00.000Z' };
  const requests: [string, Loose][] = [
    ['/email/send', past],
    ['/email/send-bulk', { contactIds: [], subject: 'Hi', body: 'Hello' }],
    ['/emails/templates/test-send', { templateId: nobody, toEmail: 'ada@example.com' }],
    [`/emails/sequences/${nobody}/enroll`, { contactIds: [contactId] }],
  ];
  await expectNothingWritten(strict, async () => {
    for (const [path, body] of requests) expectRefusal(await account.owner.post(path, body), 403);
  });
  await strict.close();
});
