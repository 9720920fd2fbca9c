import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  hour,
  type Loose,
  minute,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

let readers = 0;
const reader = async (fields: Loose = {}) => {
  const email = `reader${++readers}@example.com`;
  return { email, ...(await acme.contact({ email, ...fields })) };
};
const send = (body: Loose) => acme.owner.post('/email/send', { subject: 'Offer', body: 'Hello', ...body });
const messageOf = (id: string) => api.app.database.prisma.message.findFirstOrThrow({ where: { accountId: acme.id, id } });

describe('POST /email/send', () => {
  it('hands the mail over and answers the message as sent', async () => {
    const { id: contactId, email } = await reader();
    const message = dataOf(await send({ contactId, bodyHtml: '<p>Hello</p>' }));
    expect(message).toMatchObject({ contactId, channel: 'email', direction: 'outbound', status: 'sent', toEmail: email, error: null });
    const [mail] = await mailsTo(api, email);
    expect(mail).toMatchObject({
      subject: 'Offer',
      body: 'Hello',
      html: '<p>Hello</p>',
      messageId: expect.stringMatching(/^<[0-9a-z]{64}@/),
    });
    expect(dataOf(await acme.owner.get(`/contacts/${contactId}`)).lastContactedAt).toBe(message.sentAt);
  });

  it('has one subject, whatever lines it is written in', async () => {
    const { id: contactId, email } = await reader();
    dataOf(await send({ contactId, subject: 'Offer\r\nBcc: eve@example.com\r\n\r\nHello' }));
    const [mail] = await mailsTo(api, email);
    expect(mail!.subject).toMatch(/^Offer[^\r\n]*$/);
    expect(await mailsTo(api, 'eve@example.com')).toEqual([]);
  });

  it('sends later at its moment, by the clock, to where the contact is then', async () => {
    const { id: contactId } = await reader();
    const scheduledAt = new Date(api.clock.now().getTime() + 3 * hour).toISOString();
    const { id, status } = dataOf(await send({ contactId, scheduledAt }));
    expect(status).toBe('scheduled');
    const moved = `moved${contactId.slice(-6)}@example.com`;
    dataOf(await acme.owner.patch(`/contacts/${contactId}`, { email: moved }));
    api.clock.advance(3 * hour - minute);
    expect((await messageOf(id)).status).toBe('scheduled');
    api.clock.advance(minute);
    await eventually(async () => (await messageOf(id)).status === 'sent');
    expect(await mailsTo(api, moved)).toHaveLength(1);
    api.clock.reset();
  });

  it('takes a moment just past as now, and refuses an older one', async () => {
    const { id: contactId } = await reader();
    const past = (ms: number) => new Date(api.clock.now().getTime() - ms).toISOString();
    expect(dataOf(await send({ contactId, scheduledAt: past(30_000) })).status).toBe('sent');
    await expectNothingWritten(api, async () =>
      expectRefusal(await send({ contactId, scheduledAt: past(2 * minute) }), 400, 'scheduledAt'),
    );
  });
});

describe('a mail', () => {
  it('goes to nobody who must not be written to', async () => {
    const silent = await reader({ doNotContact: true });
    const nowhere = await acme.contact({ firstName: 'Nowhere' });
    const out = await reader();
    await api.app.database.prisma.contact.updateMany({ where: { id: out.id }, data: { optedOutEmail: true } });
    await expectNothingWritten(api, async () => {
      expect((await send({ contactId: silent.id })).body).toMatchObject({ code: 'do_not_contact' });
      expect((await send({ contactId: out.id })).body).toMatchObject({ code: 'recipient_opted_out' });
      expectRefusal(await send({ contactId: nowhere.id }), 400, 'contactId');
      expectRefusal(await send({ contactId: v4() }), 400, 'contactId');
      expectRefusal(await send({ contactId: silent.id, subject: undefined }), 400, 'subject');
      expectRefusal(await send({ contactId: silent.id, body: '' }), 400, 'body');
    });
    expect([...(await mailsTo(api, silent.email)), ...(await mailsTo(api, out.email))]).toEqual([]);
  });

  it('is not sent when its reader out between scheduling and going', async () => {
    const { id: contactId, email } = await reader();
    const { id } = dataOf(await send({ contactId, scheduledAt: new Date(api.clock.now().getTime() + hour).toISOString() }));
    dataOf(await acme.owner.patch(`/contacts/${contactId}`, { doNotContact: true }));
    api.clock.advance(hour);
    await eventually(async () => (await messageOf(id)).status === 'failed');
    expect((await messageOf(id)).error).toBe('do_not_contact');
    expect(await mailsTo(api, email)).toEqual([]);
    api.clock.reset();
  });

  it('is taken back while it waits, and not once it has gone', async () => {
    const { id: contactId, email } = await reader();
    const { id } = dataOf(await send({ contactId, scheduledAt: new Date(api.clock.now().getTime() + hour).toISOString() }));
    expect(dataOf(await acme.owner.post(`/messages/${id}/cancel`)).status).toBe('cancelled');
    api.clock.advance(2 * hour);
    expect(await mailsTo(api, email)).toEqual([]);
    api.clock.reset();
    const gone = dataOf(await send({ contactId }));
    expectRefusal(await acme.owner.post(`/messages/${gone.id}/cancel`), 409);
  });

  it('is cancelled when its contact is deleted before', async () => {
    const { id: contactId } = await reader();
    const { id } = dataOf(await send({ contactId, scheduledAt: new Date(api.clock.now().getTime() + hour).toISOString() }));
    dataOf(await acme.owner.del(`/contacts/${contactId}`));
    expect(await messageOf(id)).toMatchObject({ status: 'cancelled', error: 'contact_deleted', dueAt: null });
  });
});
