import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { untilWaiting, whileLocked } from '../support/heldUp.js';
import { type Account, dataOf, onPostgres, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

onPostgres(describe)('a conversation that two mark as read at once', () => {
  it('is read for both, and told once', async () => {
    const { id: contactId } = await acme.contact();
    for (const body of ['Hello', 'Anybody there?'])
      dataOf(await acme.owner.post('/messages', { contactId, channel: 'sms', direction: 'inbound', body }));
    const read = () => acme.owner.post(`/conversations/${contactId}/read`);
    const held = `select 1 from messages where contact_id = '${contactId}' for update`;
    const told = await toldIn(acme, async () => {
      const replies = await whileLocked(api, held, () => Promise.all([read(), read()]), untilWaiting(2));
      expect(replies.map((reply) => dataOf(reply).unreadCount)).toEqual([0, 0]);
    });
    expect(told.events.filter((name) => name.startsWith('conversation.updated'))).toHaveLength(1);
  });

  it('is closed for both where two close it', async () => {
    const { id: contactId } = await acme.contact();
    dataOf(await acme.owner.post('/messages', { contactId, channel: 'sms', direction: 'inbound', body: 'Hello' }));
    const close = () => acme.owner.post(`/conversations/${contactId}/close`);
    const held = `select 1 from conversations where contact_id = '${contactId}' for update`;
    const replies = await whileLocked(api, held, () => Promise.all([close(), close()]), untilWaiting(2));
    expect(replies.map((reply) => dataOf(reply).conversationState)).toEqual(['closed', 'closed']);
  });
});
