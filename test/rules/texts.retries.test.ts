import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { SimulatedLines } from '../../src/vendors/line/simulated.js';
import { simulatorOf, voiceNotice } from '../support/callFlows.js';
import {
  type Account,
  type Client,
  dataOf,
  expectRefusal,
  hour,
  type KeyClient,
  type Loose,
  minute,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';
import { messagesTo } from '../support/sms.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());
afterEach(() => api.clock.reset());

let people = 0;
const reader = async () => acme.contact({ phone: `+1415669${String(++people).padStart(4, '0')}` });
const text = (body: Loose, headers: Record<string, string> = {}, client: Client = key) =>
  client.post('/messages/sms/send', { body: 'Hello', ...body }, headers);
const vendor = () => simulatorOf(api);
const throttled = { kind: 'refuse', status: 429, code: 20429 } as const;
const refused = (code: number) => ({ kind: 'refuse', status: 400, code }) as const;
const unanswered = { kind: 'fail', status: 500 } as const;
const rowOf = (id: string) => api.app.database.prisma.message.findFirstOrThrow({ where: { accountId: acme.id, id } });
const now = async (id: string): Promise<Loose> => dataOf(await key.get(`/messages/sms/${id}`));
const report = (id: string, MessageSid: string, MessageStatus: string, more: Record<string, string> = {}) =>
  voiceNotice(api, `/webhooks/twilio/status/${acme.id}/${id}`, { MessageSid, MessageStatus, ...more });

describe('a client that repeats a text message while its vendor throttles', () => {
  it('uses up none of the attempts of the server, and puts none of them off', async () => {
    const { id: contactId, phone } = await reader();
    const send = () => text({ contactId, idempotencyKey: 'key-of-the-patient' });
    vendor().will(...Array(10).fill(throttled));
    const { id } = dataOf(await send());
    const { dueAt } = await rowOf(id);
    for (let n = 0; n < 9; n++) expect(dataOf(await send())).toMatchObject({ id, status: 'queued', error: 'throttled' });
    expect((await rowOf(id)).dueAt).toEqual(dueAt);
    api.clock.advance(minute);
    await eventually(async () => (await rowOf(id)).status === 'sent');
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('leaves it the plan of its attempts, which ends', async () => {
    const { id: contactId } = await reader();
    const send = () => text({ contactId, idempotencyKey: 'key-of-the-plan' });
    const pauses = [1, 5, 15, 60, 6 * 60, 24 * 60];
    vendor().will(...Array(1 + 2 * pauses.length).fill(throttled));
    const { id } = dataOf(await send());
    for (const [n, pause] of pauses.entries()) {
      const { dueAt, updatedAt } = await rowOf(id);
      expect(Math.round((dueAt!.getTime() - updatedAt.getTime()) / minute)).toBe(pause);
      expect(dataOf(await send()).status).toBe('queued');
      api.clock.advance(pause * minute);
      await eventually(async () => (await rowOf(id)).tries === n + 2);
    }
    expect(await rowOf(id)).toMatchObject({ status: 'failed', error: 'throttled', dueAt: null });
  });
});

describe('a text message of which nobody knows whether it was sent', () => {
  it.each([
    ['throttled', throttled, undefined],
    ['refused', refused(21211), undefined],
    ['refused for its recipient', refused(21610), 'recipient_opted_out'],
  ])('is as unknown where sending it again is %s', async (_what, behaviour, contactIs) => {
    const { id: contactId } = await reader();
    const send = () => text({ contactId, idempotencyKey: `key-unknown-${contactId}` });
    vendor().will(unanswered, behaviour);
    const { id } = dataOf(await send());
    expect(dataOf(await send())).toMatchObject({ id, status: 'sending', error: 'unconfirmed' });
    expect((await rowOf(id)).dueAt).toBeNull();
    // What the vendor says of the recipient holds all the same.
    const next = await text({ contactId, body: 'Another' });
    expect(next.body.code).toBe(contactIs);
    await report(id, 'SMfirst', 'delivered');
    expect(await now(id)).toMatchObject({ status: 'delivered', error: null, providerId: 'SMfirst' });
  });
});

/** A message that the vendor has twice, the second time by the id that it answered. */
async function twice() {
  const { id: contactId } = await reader();
  const send = () => text({ contactId, idempotencyKey: `key-twice-${contactId}` });
  vendor().will(unanswered);
  dataOf(await send());
  const message = dataOf(await send());
  expect(message).toMatchObject({ status: 'sent', providerId: expect.stringMatching(/^SM/) });
  return message;
}

describe('a text message that the vendor may have twice', () => {
  it('is not said to have failed by the failure of the other attempt', async () => {
    const sent = await twice();
    await report(sent.id, 'SMfirst', 'undelivered', { ErrorCode: '21610' });
    expect(await now(sent.id)).toEqual(sent);
    expect((await text({ contactId: sent.contactId })).status).toBe(201);
  });

  it('has arrived where one of them has, whatever became of the other', async () => {
    const sent = await twice();
    await report(sent.id, sent.providerId, 'undelivered', { ErrorCode: '30003' });
    expect(await now(sent.id)).toMatchObject({ status: 'failed', error: 'refused' });
    await report(sent.id, sent.providerId, 'delivered');
    expect((await now(sent.id)).status).toBe('failed');
    await report(sent.id, 'SMfirst', 'delivered');
    const delivered = await now(sent.id);
    expect(delivered).toMatchObject({ status: 'delivered', error: null, providerId: 'SMfirst', deliveredAt: expect.any(String) });
    await report(sent.id, sent.providerId, 'failed');
    expect(await now(sent.id)).toEqual(delivered);
  });

  it('goes by the other one where one has failed, and has failed where both have', async () => {
    const failed = await twice();
    await report(failed.id, failed.providerId, 'undelivered', { ErrorCode: '30003' });
    await report(failed.id, 'SMfirst', 'sent');
    expect(await now(failed.id)).toMatchObject({ status: 'sent', error: null, providerId: 'SMfirst' });
    await report(failed.id, failed.providerId, 'undelivered', { ErrorCode: '30003' });
    expect((await now(failed.id)).status).toBe('sent');
    await report(failed.id, 'SMfirst', 'undelivered', { ErrorCode: '30003' });
    expect(await now(failed.id)).toMatchObject({ status: 'failed', error: 'refused', providerId: 'SMfirst' });
  });

  it('is sent where the first attempt is reported to have failed while the second is taken', async () => {
    const { id: contactId } = await reader();
    const send = () => text({ contactId, idempotencyKey: 'key-of-a-late-report' });
    vendor().will(unanswered);
    const { id } = dataOf(await send());
    // As a report that comes once the second attempt has begun.
    const { database } = api.app;
    await database.execute(`
      create function reported() returns trigger language plpgsql as $$ begin
        if new.attempt > old.attempt then new.status := 'failed'; new.error := 'refused'; new.provider_id := 'SMfirst'; end if;
        return new; end $$;
      create trigger reported before update on messages for each row execute function reported();`);
    const sent = dataOf(await send());
    await database.execute('drop trigger reported on messages');
    expect(sent).toMatchObject({ id, status: 'sent', error: null });
    expect(sent.providerId).not.toBe('SMfirst');
  });
});

describe('a text message that is taken back as it comes due', () => {
  it('is not handed over', async () => {
    const { id: contactId, phone } = await reader();
    const lines = (api.app.vendors.line as SimulatedLines).simulator;
    dataOf(await acme.owner.put('/settings/vendor-line', { apiKey: 'line_acme' }));
    dataOf(await acme.owner.put('/settings/vendor-line/lines/acme-1', { userId: acme.ownerId }));
    lines.will({ kind: 'refuse', status: 429 });
    const { id } = dataOf(await text({ contactId, transport: 'vendor_line' }));
    const { attempt } = await rowOf(id);
    // As the deletion of its contact does it, after the message was read and before it is marked as being sent.
    await api.app.database.execute(`
      create function taken_back() returns trigger language plpgsql as $$ begin
        if new.status <> 'sending' or old.status <> 'queued' then return new; end if;
        update messages set status = 'cancelled', due_at = null where account_id = old.account_id and id = old.id;
        return null; end $$;
      create trigger taken_back before update on messages for each row execute function taken_back();`);
    api.clock.advance(minute);
    await eventually(async () => (await rowOf(id)).attempt > attempt && (await rowOf(id)).status !== 'queued');
    await api.app.database.execute('drop trigger taken_back on messages');
    expect(await rowOf(id)).toMatchObject({ status: 'cancelled', providerId: null });
    expect(messagesTo(api, phone)).toEqual([]);
  });
});

describe('a late or repeated report', () => {
  it('says nothing of the recipient any more', async () => {
    const { id: contactId } = await reader();
    const { id, providerId } = dataOf(await text({ contactId }));
    await report(id, providerId, 'delivered');
    for (const ErrorCode of ['21610', '30006']) await report(id, providerId, 'undelivered', { ErrorCode });
    const other = dataOf(await text({ contactId }));
    expect(other.status).toBe('sent');
    await report(other.id, other.providerId, 'undelivered', { ErrorCode: '30003' });
    for (const ErrorCode of ['21610', '30006']) await report(other.id, other.providerId, 'failed', { ErrorCode });
    expect((await text({ contactId })).status).toBe(201);
  });
});

const named = (idempotencyKey: string) => ({ 'idempotency-key': idempotencyKey });
const isReplay = ({ headers }: Reply) => headers['idempotent-replayed'] === 'true';

describe('a text message under the header Idempotency-Key', () => {
  it('is sent once, and answered again with the first outcome', async () => {
    const { id: contactId, phone } = await reader();
    const send = () => text({ contactId, metadata: { campaign: 7 } }, named('header-of-one'));
    const first = await send();
    await report(first.body.data.id, first.body.data.providerId, 'delivered');
    const again = await send();
    expect([first.status, again.status, isReplay(first), isReplay(again)]).toEqual([201, 201, false, true]);
    expect(again.body).toEqual(first.body);
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('is refused for any other request, and is another one of another caller', async () => {
    const { id: contactId, phone } = await reader();
    const { id } = dataOf(await text({ contactId, metadata: { campaign: 7 } }, named('header-of-many')));
    const others = [
      await text({ contactId, body: 'Other', metadata: { campaign: 7 } }, named('header-of-many')),
      await text({ contactId, metadata: { campaign: 8 } }, named('header-of-many')),
      await key.post('/contacts', { lastName: 'Other' }, named('header-of-many')),
    ];
    for (const other of others) expectRefusal(other, 409);
    expect(others.map(({ body }) => body.code)).toEqual(Array(3).fill('operation_key_conflict'));
    const theirs = await text({ contactId, metadata: { campaign: 7 } }, named('header-of-many'), acme.owner);
    expect([theirs.status, isReplay(theirs)]).toEqual([201, false]);
    expect(theirs.body.data.id).not.toBe(id);
    expect(messagesTo(api, phone)).toHaveLength(2);
  });

  it('is free for another one after a day', async () => {
    const { id: contactId } = await reader();
    const send = (body: string) => text({ contactId, body }, named('header-of-a-day'));
    const first = dataOf(await send('Hello'));
    api.clock.advance(25 * hour);
    const second = dataOf(await send('Hello'));
    expect([first.status, second.status]).toEqual(['sent', 'sent']);
    expect(second.id).not.toBe(first.id);
    expectRefusal(await send('Other'), 409);
  });
});

describe('a text message under the header Idempotency-Key, once more,', () => {
  it.each([
    ['throttled', throttled, 1],
    ['unconfirmed', unanswered, 2],
  ])('that is %s is sent again, the same one', async (_what, behaviour, taken) => {
    const { id: contactId, phone } = await reader();
    const send = (body = 'Hello') => text({ contactId, body }, named(`header ${contactId}`));
    vendor().will(behaviour);
    const { id, status } = dataOf(await send());
    expect(['queued', 'sending']).toContain(status);
    expectRefusal(await send('Other'), 409);
    const again = await send();
    const sent = dataOf(again);
    expect(sent).toMatchObject({ id, status: 'sent', error: null });
    // It is sent now, which is no answer of before.
    expect(isReplay(again)).toBe(false);
    const replayed = await send();
    expect([replayed.body.data, isReplay(replayed)]).toEqual([sent, true]);
    expect(messagesTo(api, phone)).toHaveLength(taken);
  });

  it('is the same one across a change of SECRET_KEY', async () => {
    const { id: contactId, phone } = await reader();
    const send = () => text({ contactId, body: 'Hello' }, named('across the secret keys'));
    const { config } = api.app;
    const { secretKey } = config;
    vendor().will(throttled);
    const { id } = dataOf(await send());
    try {
      Object.assign(config, { secretKey: 'the key that is in use from now on', previousSecretKeys: [secretKey] });
      expect(dataOf(await send())).toMatchObject({ id, status: 'sent' });
    } finally {
      Object.assign(config, { secretKey, previousSecretKeys: [] });
    }
    expect(messagesTo(api, phone)).toHaveLength(1);
  });

  it('is sent once for ten at a time, those with a key in the body as well', async () => {
    const { id: contactId, phone } = await reader();
    for (const idempotencyKey of [undefined, 'key-under-a-header']) {
      const send = () => text({ contactId, idempotencyKey }, named(`ten ${idempotencyKey}`));
      const replies = await Promise.all(Array.from({ length: 10 }, send));
      expect(replies.every(({ status, body }) => status === 201 || body.code === 'send_in_progress')).toBe(true);
      expect(new Set(replies.filter(({ status }) => status === 201).map(({ body }) => body.data.id)).size).toBe(1);
    }
    expect(messagesTo(api, phone)).toHaveLength(2);
  });
});
