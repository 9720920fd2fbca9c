import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { mailsTo } from '../support/mail.js';

const inboundMail = { secret: 'the secret of those who bring mail', domain: 'in.example.com' };

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account();
});
afterAll(() => api.close());

let readers = 0;

/** A mail of ours as its reader has it. */
async function sent() {
  const contact = await acme.contact({ email: `answers${++readers}@example.com` });
  const message = dataOf(await acme.owner.post('/email/send', { contactId: contact.id, subject: 'Offer', body: 'Hello' }));
  const mail = await eventually(async () => (await mailsTo(api, contact.email))[0]);
  return { contact, message, mail };
}

function brought(raw: string, signature?: string) {
  const signed = signature ?? `sha256=${createHmac('sha256', inboundMail.secret).update(raw).digest('hex')}`;
  const headers = { 'content-type': 'message/rfc822', 'x-inbound-signature': signed };
  return api.anybody().raw({ method: 'POST', path: '/webhooks/email/inbound', headers, payload: raw });
}

const lines = (...all: string[]) => all.join('\r\n');
let ids = 0;

const answer = ({ to, inReplyTo = '', more = [] }: { to: string; inReplyTo?: string; more?: string[] }, text = 'Yes, please') =>
  lines(
    'From: Ann <ann@example.com>',
    `To: <${to}>`,
    'Subject: =?utf-8?Q?Re=3A_Offer_=E2=9C=93?=',
    `Message-ID: <answer-${++ids}@example.com>`,
    ...(inReplyTo ? [`In-Reply-To: ${inReplyTo}`] : []),
    ...more,
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
  );

const thread = async (contactId: string): Promise<Loose[]> => dataOf(await acme.owner.get(`/conversations/${contactId}`)).messages;

describe('an answer to a mail', () => {
  it.each([
    ['to the address that it asked for', (mail: Loose) => ({ to: mail.replyTo })],
    ['that names it', (mail: Loose) => ({ to: 'sales@acme.example', inReplyTo: mail.messageId })],
    ['whose address lost its case', (mail: Loose) => ({ to: mail.replyTo.toUpperCase() })],
  ])('%s stands in the thread', async (_what, head) => {
    const { contact, message, mail } = await sent();
    expect(answered(await brought(answer(head(mail))))).toEqual({ taken: true });
    const [first, reply] = await thread(contact.id);
    expect(first).toMatchObject({ id: message.id, repliedAt: expect.any(String) });
    expect(reply).toMatchObject({
      ...{ channel: 'email', direction: 'inbound', status: 'received', subject: 'Re: Offer ✓', fromEmail: 'ann@example.com' },
      body: expect.stringContaining('Yes, please'),
    });
    expect(dataOf(await acme.owner.get(`/conversations/${contact.id}`)).conversationState).toBe('awaiting_reply');
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).leadScore).toBe(15);
  });

  it('counts once, however often it is brought', async () => {
    const { contact, mail } = await sent();
    const raw = answer({ to: mail.replyTo });
    await Promise.all(Array.from({ length: 4 }, () => brought(raw)));
    expect(await thread(contact.id)).toHaveLength(2);
  });

  it('counts once without a Message-ID as well, and twice where only the end of a long one differs', async () => {
    const { contact, mail } = await sent();
    const raw = answer({ to: mail.replyTo });
    for (let i = 0; i < 2; i++) await brought(raw.replace(/Message-ID: .*\r\n/, ''));
    expect(await thread(contact.id)).toHaveLength(2);
    for (const end of ['a', 'b']) await brought(raw.replace('<answer-', `<${'long'.repeat(60)}${end}-`));
    expect(await thread(contact.id)).toHaveLength(4);
  });

  it('of a machine is kept, and is no answer', async () => {
    const { contact, mail } = await sent();
    await brought(answer({ to: mail.replyTo, more: ['Auto-Submitted: auto-replied'] }, 'Out of office'));
    const [first, reply] = await thread(contact.id);
    expect([first!.repliedAt, reply!.metadata.automatic]).toEqual([null, true]);
  });
});

const answered = ({ status, body }: Loose) => {
  expect(status).toBe(200);
  return body.data;
};

const bounce = (messageId: string, status: string, action = 'failed') =>
  lines(
    'From: MAILER-DAEMON@example.com',
    'To: bounces@acme.example',
    'Subject: Undelivered',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    ...['--b', 'Content-Type: text/plain', '', 'It did not arrive.', ''],
    ...[
      '--b',
      'Content-Type: message/delivery-status',
      '',
      'Reporting-MTA: dns; mx.example.com',
      '',
      `Action: ${action}`,
      `Status: ${status}`,
      '',
    ],
    ...['--b', 'Content-Type: text/rfc822-headers', '', `Message-ID: ${messageId}`, '', '--b--', ''],
  );

describe('a mail that comes back', () => {
  it('for good has failed', async () => {
    const { message, mail } = await sent();
    await brought(bounce(mail.messageId, '5.1.1'));
    const [now] = dataOf(await acme.owner.get(`/messages?contact_id=${message.contactId}`)).data;
    expect(now).toMatchObject({ status: 'failed', error: 'bounced', bouncedAt: expect.any(String) });
  });

  it.each([
    ['4.2.2', 'failed'],
    ['5.0.0', 'delayed'],
  ])('for now (%s, %s) is as it was', async (status, action) => {
    const { mail } = await sent();
    await expectNothingWritten(api, () => brought(bounce(mail.messageId, status, action)));
  });

  it.each([[false], [true]])('with a complaint opts its reader out (deleted meanwhile: %s)', async (isDeleted) => {
    const { contact, mail } = await sent();
    if (isDeleted) dataOf(await acme.owner.del(`/contacts/${contact.id}`));
    const raw = lines(
      ...['From: fbl@example.com', 'To: fbl@acme.example', 'Subject: complaint'],
      ...['Content-Type: multipart/report; report-type=feedback-report; boundary=b', ''],
      ...['--b', 'Content-Type: message/feedback-report', '', 'Feedback-Type: abuse', 'Version: 1', ''],
      ...['--b', 'Content-Type: text/rfc822-headers', '', `Message-ID: ${mail.messageId}`, '', '--b--', ''],
    );
    expect(answered(await brought(raw))).toEqual({ taken: true });
    if (isDeleted) dataOf(await acme.owner.post(`/contacts/${contact.id}/restore`));
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).optedOutEmail).toBe(true);
  });
});

describe('what is no answer to us', () => {
  it('is left alone', async () => {
    const { mail } = await sent();
    const forged = mail.replyTo.replace(/.@/, (end: string) => (end === 'a@' ? 'b@' : 'a@'));
    await expectNothingWritten(api, async () => {
      for (const to of ['somebody@in.example.com', forged]) expect(answered(await brought(answer({ to })))).toEqual({ taken: false });
      expectRefusal(await brought(answer({ to: mail.replyTo }), 'sha256=00'), 403);
    });
  });

  it('and what cannot be read neither stops us nor is kept', async () => {
    const { mail } = await sent();
    const deep = Array.from({ length: 200 }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`).join('');
    const bombs = [
      '',
      '\0\0',
      `To: <${mail.replyTo}>\r\n${deep}`,
      `X: ${'y'.repeat(100_000)}\r\n\r\n`,
      'Content-Type: text/plain; charset=nothing\r\n\r\nx',
    ];
    for (const raw of bombs) expect((await brought(raw)).status).toBeLessThan(500);
  });

  it('finds no door where none is set up', async () => {
    const closed = await server();
    const reply = await closed.anybody().raw({ method: 'POST', path: '/webhooks/email/inbound', headers: {}, payload: 'x' });
    expect(reply.status).toBe(404);
    await closed.close();
  });
});
