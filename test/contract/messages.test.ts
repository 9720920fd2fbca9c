import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  hour,
  type KeyClient,
  type Loose,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

const keep = (body: Loose) => key.post('/messages', body);
const person = async (fields: Loose = {}): Promise<string> => (await acme.contact({ email: 'reader@example.com', ...fields })).id;
const said = async (contactId: string, fields: Loose = {}) =>
  dataOf(await keep({ contactId, channel: 'sms', direction: 'inbound', body: 'Hello', ...fields }));
const conversation = async (id: string) => dataOf(await key.get(`/conversations/${id}`));
const namesOf = async (id: string) =>
  (await api.app.database.prisma.outboxEvent.findMany({ where: { accountId: acme.id, entityId: id }, orderBy: { seq: 'asc' } })).map(
    ({ name }) => name,
  );

describe('a message that came in by another way', () => {
  it('is kept once under its id at the provider: another is 400', async () => {
    const contactId = await person();
    const fields = { provider: 'fax', providerId: 'fax-1' };
    await said(contactId, fields);
    const again = await keep({ contactId, channel: 'sms', direction: 'inbound', body: 'Again', ...fields });
    expectRefusal(again, 400, 'providerId');
    expect(again.body.error.details ?? again.body.details).toMatchObject([{ field: 'providerId', code: 'taken' }]);
    await said(contactId, { ...fields, providerId: 'fax-2' });
  });
});

describe('POST /messages', () => {
  it('keeps what a contact wrote as received, and tells it once', async () => {
    const contactId = await person();
    const message = await said(contactId, { metadata: { thread: 1 }, fromNumber: '+14155550123' });
    expect(message).toMatchObject({ contactId, status: 'received', sentAt: null, userId: null, metadata: { thread: 1 }, cc: [] });
    expect(await namesOf(message.id)).toEqual(['message.created', 'message.received']);
  });

  it.each([
    ['text message of theirs', { channel: 'sms', direction: 'inbound' }],
    ['e-mail of theirs', { channel: 'email', direction: 'inbound', subject: 'Re' }],
    ['e-mail of ours', { channel: 'email', direction: 'outbound', subject: 'Re' }],
  ])('takes at most three statements for a %s', async (_what, fields) => {
    const { id: contactId } = await acme.contact();
    const keep = async () => dataOf(await acme.owner.post('/messages', { contactId, body: 'Hello', ...fields }));
    expect(await api.statements(keep)).toBeLessThanOrEqual(3);
  });

  it('keeps an e-mail of ours as sent, its author and the time of the last contact with it', async () => {
    const contactId = await person();
    const mail = { channel: 'email', direction: 'outbound', subject: 'Offer', toEmail: 'reader@example.com' };
    const message = await said(contactId, { ...mail, cc: 'a@example.com, b@example.com', bcc: ['c@example.com'] });
    expect(message).toMatchObject({ status: 'sent', userId: acme.ownerId, cc: ['a@example.com', 'b@example.com'], bcc: ['c@example.com'] });
    expect(message.sentAt).not.toBeNull();
    expect(await namesOf(message.id)).toEqual(['message.created']);
    expect(dataOf(await key.get(`/contacts/${contactId}`)).lastContactedAt).toBe(message.sentAt);
  });

  it.each(['sent', 'queued', 'sending', 'scheduled', 'delivered'])(
    'refuses a text message of ours that is said to be %s',
    async (status) => {
      const contactId = await person();
      await expectNothingWritten(api, async () =>
        expectRefusal(await keep({ contactId, channel: 'sms', direction: 'outbound', body: 'Hi', status }), 400, 'status'),
      );
    },
  );

  it('keeps one as a draft', async () => {
    const contactId = await person();
    const draft = await said(contactId, { direction: 'outbound' });
    expect(draft.status).toBe('draft');
    expect((await conversation(contactId)).lastMessage).toBeNull();
  });

  it('names what is missing or wrong', async () => {
    const contactId = await person();
    const good = { contactId, channel: 'email', direction: 'inbound', body: 'Hi', subject: 'Hi' };
    await expectNothingWritten(api, async () => {
      for (const field of ['contactId', 'channel', 'direction', 'body', 'subject']) {
        expectRefusal(await keep({ ...good, [field]: undefined }), 400, field);
      }
      expectRefusal(await keep({ ...good, contactId: v4() }), 400, 'contactId');
      expectRefusal(await keep({ ...good, cc: ['nobody'] }), 400, 'cc.0');
      expectRefusal(await keep({ ...good, subject: 'x'.repeat(501) }), 400, 'subject');
      expectRefusal(await keep({ ...good, status: 'sent' }), 400, 'status');
    });
  });

  it('takes any JSON as metadata', async () => {
    const contactId = await person();
    for (const metadata of ['text', 5, [1, { a: null }], { deep: { er: true } }])
      expect((await said(contactId, { metadata })).metadata).toEqual(metadata);
  });
});

describe('POST /messages with ""', () => {
  it('takes it for nothing where it has addresses, and refuses it as a word', async () => {
    const contactId = await person();
    const mail = { channel: 'email', direction: 'outbound', subject: 'Offer' };
    expect(await said(contactId, { ...mail, cc: '', bcc: ' , ' })).toMatchObject({ cc: [], bcc: [], status: 'sent' });
    const { cc } = await said(contactId, { ...mail, cc: ' a@example.com,, b@example.com ,' });
    expect(cc).toEqual(['a@example.com', 'b@example.com']);
    for (const word of ['channel', 'status']) expectRefusal(await keep({ ...mail, contactId, body: 'Hi', [word]: '' }), 400, word);
  });
});

describe('what a contact wrote', () => {
  it('counts in their score, and as their last activity', async () => {
    const contactId = await person();
    const scored = async () => dataOf(await key.get(`/contacts/${contactId}`));
    for (const leadScore of [15, 20, 25, 30, 35, 35]) {
      await said(contactId);
      expect(await scored()).toMatchObject({ leadScore, lastActivityAt: expect.any(String) });
    }
    const { score, factors } = dataOf(await key.get(`/contacts/${contactId}/score`));
    expect([score, factors[0].points, factors[0].detail]).toEqual([35, 25, '6 inbound messages']);
  });
});

describe('GET /messages', () => {
  it('lists newest first and filters by contact, channel, direction and status', async () => {
    const contactId = await person();
    const first = await said(contactId);
    api.clock.advance(1);
    const second = await said(contactId, { channel: 'email', subject: 'Re', direction: 'outbound' });
    const ids = async (query: string) => dataOf(await key.get(`/messages?contact_id=${contactId}${query}`)).data.map((m: Loose) => m.id);
    expect(await ids('')).toEqual([second.id, first.id]);
    expect(await ids('&channel=sms')).toEqual([first.id]);
    expect(await ids('&direction=outbound')).toEqual([second.id]);
    expect(await ids('&status=received')).toEqual([first.id]);
    expectRefusal(await key.get('/messages?channel=fax'), 400, 'channel');
  });

  it('shows e-mails alone at /emails, and text messages alone at /messages/sms', async () => {
    const contactId = await person();
    const sms = await said(contactId);
    const mail = await said(contactId, { channel: 'email', subject: 'Hi' });
    const { data, meta } = dataOf(await key.get('/emails?per_page=200&channel=sms'));
    expect(data.map((m: Loose) => m.id)).toContain(mail.id);
    expect(data.every((m: Loose) => m.channel === 'email')).toBe(true);
    expect(meta.total).toBe(data.length);
    expect(dataOf(await key.get(`/messages/sms/${sms.id}`))).toEqual(sms);
    expectRefusal(await key.get(`/messages/sms/${mail.id}`), 404);
    expectRefusal(await key.get('/messages/sms/nothing'), 404);
  });
});

describe('a conversation', () => {
  it('waits for an answer, is due soon, overdue, answered, idle and closed', async () => {
    const contactId = await person();
    await said(contactId, { body: 'First' });
    const stands = async () => {
      const { conversationState, sla, unreadCount, messageCount } = await conversation(contactId);
      return [conversationState, sla.state, unreadCount, messageCount];
    };
    expect(await stands()).toEqual(['awaiting_reply', 'ok', 1, 1]);
    api.clock.advance(20 * hour);
    expect(await stands()).toEqual(['awaiting_reply', 'due_soon', 1, 1]);
    api.clock.advance(4 * hour);
    expect(await stands()).toEqual(['awaiting_reply', 'breached', 1, 1]);
    await said(contactId, { direction: 'outbound', body: 'A draft answers nobody' });
    expect(await stands()).toEqual(['awaiting_reply', 'breached', 1, 2]);
    await said(contactId, { channel: 'email', subject: 'Re', direction: 'outbound', status: 'failed' });
    expect((await stands())[0]).toBe('awaiting_reply');
    await said(contactId, { channel: 'email', subject: 'Re', direction: 'outbound' });
    expect(await stands()).toEqual(['replied', 'none', 1, 4]);
    api.clock.advance(31 * day);
    expect((await stands())[0]).toBe('idle');
    expect(dataOf(await key.post(`/conversations/${contactId}/close`)).conversationState).toBe('closed');
    await said(contactId);
    expect(await stands()).toEqual(['awaiting_reply', 'ok', 2, 5]);
    api.clock.reset();
  });

  it('that is closed is open again after a merge where the other contact wrote later', async () => {
    const [kept, earlier, later] = [await person(), await person(), await person()];
    await said(kept);
    await said(earlier);
    api.clock.advance(hour);
    dataOf(await key.post(`/conversations/${kept}/close`));
    api.clock.advance(hour);
    await said(later);
    const merge = async (secondaryId: string) => dataOf(await acme.owner.post('/contacts/merge', { primaryId: kept, secondaryId }));
    await merge(earlier);
    expect(await conversation(kept)).toMatchObject({ conversationState: 'closed', unreadCount: 2 });
    await merge(later);
    expect(await conversation(kept)).toMatchObject({ conversationState: 'awaiting_reply', unreadCount: 3 });
    api.clock.reset();
  });
});

describe('conversations', () => {
  it('show their contact and last message, and the thread over all channels', async () => {
    const contactId = await person({ firstName: 'Ann', phone: '+14155550199' });
    const texts = ['One', 'Two', 'Three'];
    for (const body of texts) {
      await said(contactId, { body });
      api.clock.advance(1);
    }
    const whole = await conversation(contactId);
    expect(whole.messages.map((m: Loose) => m.body)).toEqual(texts);
    expect(whole).toMatchObject({ contactId, contact: { id: contactId, firstName: 'Ann', email: 'reader@example.com' }, messageCount: 3 });
    const { data } = dataOf(await key.get('/conversations'));
    const summary = data.find((c: Loose) => c.contact.id === contactId);
    expect(summary.lastMessage).toMatchObject({ body: 'Three', channel: 'sms', direction: 'inbound' });
    expect(Object.keys(summary).sort()).toEqual(
      ['contact', 'contactId', 'conversationState', 'lastMessage', 'messageCount', 'sla', 'unreadCount'].sort(),
    );
    expectRefusal(await key.get(`/conversations/${v4()}`), 404);
  });

  it('is read as a whole, and never by looking at it', async () => {
    const contactId = await person();
    const message = await said(contactId);
    await said(contactId);
    expect((await conversation(contactId)).unreadCount).toBe(2);
    expect((await conversation(contactId)).unreadCount).toBe(2);
    const read = dataOf(await key.post(`/conversations/${contactId}/read`));
    expect(read.unreadCount).toBe(0);
    expect(await namesOf(message.id)).toEqual(['message.created', 'message.received', 'message.updated']);
    expect(await namesOf(contactId)).toContain('conversation.updated');
    const before = await namesOf(contactId);
    dataOf(await key.post(`/conversations/${contactId}/read`));
    expect(await namesOf(contactId)).toEqual(before);
  });
});

describe('the conversation of a contact', () => {
  it('leaves list and total with its contact, and comes back with it', async () => {
    const contactId = await person();
    await said(contactId);
    const total = async () => dataOf(await key.get('/conversations')).meta.total;
    const before = await total();
    dataOf(await key.del(`/contacts/${contactId}`));
    expect(await total()).toBe(before - 1);
    expectRefusal(await key.get(`/conversations/${contactId}`), 404);
    dataOf(await key.post(`/contacts/${contactId}/restore`));
    expect(await total()).toBe(before);
    expect((await conversation(contactId)).messageCount).toBe(1);
  });

  it('follows its contact in a merge, with what was said to either', async () => {
    const [kept, other] = [await person(), await person()];
    await said(kept, { body: 'To be kept' });
    api.clock.advance(1);
    await said(other, { body: 'Later' });
    dataOf(await key.post('/contacts/merge', { primaryId: kept, secondaryId: other }));
    const whole = await conversation(kept);
    expect(whole).toMatchObject({ messageCount: 2, unreadCount: 2, lastMessage: { body: 'Later' } });
    expect(await api.app.database.prisma.conversation.count({ where: { accountId: acme.id, contactId: other } })).toBe(0);
  });

  it('is one statement as a list with contacts and last messages', async () => {
    const inbox =
      '{ conversations(first: 20) { totalCount nodes { unreadCount contact { firstName } lastMessage { body sender { name } } } } }';
    expect(await api.statements(async () => expect((await key.gql(inbox)).errors).toBeUndefined())).toBe(1);
    expect(await api.statements(() => key.get('/conversations'))).toBe(1);
    expect(await api.statements(() => key.get('/messages'))).toBe(1);
  });
});
