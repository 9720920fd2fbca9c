import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { simulatorOf, voiceNotice } from '../support/callFlows.js';
import { type Account, dataOf, type KeyClient, type Loose, minute, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

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
async function text(idempotencyKey?: string): Promise<Loose> {
  const { id: contactId } = await acme.contact({ phone: `+1415668${String(++people).padStart(4, '0')}` });
  return dataOf(await key.post('/messages/sms/send', { contactId, body: 'Hello', idempotencyKey }));
}
const again = async ({ contactId }: Loose, idempotencyKey: string): Promise<Loose> =>
  dataOf(await key.post('/messages/sms/send', { contactId, body: 'Hello', idempotencyKey }));

/** What was told of the status of a message, one event after the other: what it is, and from what to what it went. */
async function toldOf({ id }: Loose): Promise<unknown[]> {
  const rows: Loose[] = await api.app.database.prisma.outboxEvent.findMany({ where: { entityId: id }, orderBy: { seq: 'asc' } });
  return rows
    .filter(({ name }) => name !== 'message.sent')
    .map(({ data, changes }) => [data.status, changes?.status ? [changes.status.from, changes.status.to] : null]);
}

describe('what is told of the status of a text message goes on from what was told before:', () => {
  const throttled = { kind: 'refuse', status: 429, code: 20429 } as const;
  const unanswered = { kind: 'fail', status: 500 } as const;
  const created = ['queued', null];
  const sent = ['sent', ['queued', 'sent']];

  it('one that is sent', async () => {
    expect(await toldOf(await text())).toEqual([created, sent]);
  });

  it('one that is throttled, waits, and is sent', async () => {
    simulatorOf(api).will(throttled, throttled);
    const message = await text();
    api.clock.advance(minute);
    const throttledTwice = [created, ['queued', null], ['queued', null]];
    await eventually(async () => (await toldOf(message)).length === 3);
    expect(await toldOf(message)).toEqual(throttledTwice);
    api.clock.advance(5 * minute);
    await eventually(async () => (await toldOf(message)).length === 4);
    expect(await toldOf(message)).toEqual([...throttledTwice, sent]);
  });

  it('one of which nobody knows whether it went, sent again', async () => {
    simulatorOf(api).will(unanswered);
    const message = await text('key-of-the-unknown');
    const unconfirmed = [created, ['sending', ['queued', 'sending']]];
    expect(await toldOf(message)).toEqual(unconfirmed);
    expect((await again(message, 'key-of-the-unknown')).status).toBe('sent');
    expect(await toldOf(message)).toEqual([...unconfirmed, ['sent', ['sending', 'sent']]]);
  });

  it('one whose report comes before the answer of the carrier is kept', async () => {
    const message = await text();
    await api.app.database.prisma.message.updateMany({
      where: { accountId: acme.id, id: message.id },
      data: { status: 'sending', providerId: null, sentAt: null },
    });
    await voiceNotice(api, `/webhooks/twilio/status/${acme.id}/${message.id}`, { MessageSid: 'SMfirst', MessageStatus: 'delivered' });
    expect((await toldOf(message)).at(-1)).toEqual(['delivered', ['queued', 'delivered']]);
  });
});
