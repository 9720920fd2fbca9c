import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, day, hour, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  // A session would end while the clock is moved.
  key = await acme.key();
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

const person = async (): Promise<string> => (await acme.contact({ email: 'reader@example.com' })).id;
const said = async (contactId: string, fields: Loose = {}) =>
  dataOf(await key.post('/messages', { contactId, channel: 'sms', direction: 'inbound', body: 'Hello', ...fields }));
const conversation = async (id: string) => dataOf(await key.get(`/conversations/${id}`));

describe('a conversation that was closed, of a contact that is merged into another', () => {
  const closed = async (id: string) => dataOf(await key.post(`/conversations/${id}/close`)).closedAt;
  const merged = async (primaryId: string, secondaryId: string) => {
    dataOf(await key.post('/contacts/merge', { primaryId, secondaryId }));
    return conversation(primaryId);
  };

  it('stays closed where the other one has no messages, or earlier ones', async () => {
    const [empty, answered, gone, alsoGone] = [await person(), await person(), await person(), await person()];
    await said(answered);
    await said(answered, { channel: 'email', subject: 'Re', direction: 'outbound' });
    api.clock.advance(hour);
    for (const id of [gone, alsoGone]) await said(id);
    api.clock.advance(hour);
    for (const id of [gone, alsoGone]) await closed(id);
    api.clock.advance(day);
    const none = { conversationState: 'closed', sla: { state: 'none' } };
    expect(await merged(empty, gone)).toMatchObject({ ...none, messageCount: 1 });
    expect(await merged(answered, alsoGone)).toMatchObject({ ...none, messageCount: 3 });
    const { data } = dataOf(await key.get('/contacts?smart_view=needs_follow_up&per_page=200'));
    expect(data.map(({ id }: Loose) => id).filter((id: string) => [empty, answered].includes(id))).toEqual([]);
    await said(empty);
    expect((await conversation(empty)).conversationState).toBe('awaiting_reply');
  });

  it('is open where the other one wrote later', async () => {
    const [kept, gone] = [await person(), await person()];
    await said(gone);
    await closed(gone);
    api.clock.advance(hour);
    await said(kept);
    expect(await merged(kept, gone)).toMatchObject({ conversationState: 'awaiting_reply', messageCount: 2 });
  });
});
