import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMail } from '../../src/modules/messages/message.email.parserPool.js';
import { answer, answered, bounce, inboundMail, lines, mailing } from '../support/inboundMail.js';
import { type Account, dataOf, expectNothingWritten, expectRefusal, hour, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let mails: ReturnType<typeof mailing>;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account();
  mails = mailing(api, acme);
});
afterAll(() => api.close());

const sent = () => mails.sent();
const brought = (raw: string, signature?: string) => mails.brought(raw, signature);
const thread = (contactId: string) => mails.thread(contactId);
let ids = 0;

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

describe('an answer that has no text of its own', () => {
  /** A mail in parts, each with its type. */
  const inParts = (to: string, ...parts: [string, string][]) =>
    lines(
      ...['From: ann@example.com', `To: <${to}>`, 'Subject: A picture', `Message-ID: <parts-${++ids}@example.com>`],
      ...['Content-Type: multipart/mixed; boundary=b', ''],
      ...parts.flatMap(([type, content]) => ['--b', `Content-Type: ${type}`, '', content]),
      ...['--b--', ''],
    );
  const keptOf = async (make: (to: string) => string) => {
    const { contact, mail } = await sent();
    expect(answered(await brought(make(mail.replyTo)))).toEqual({ taken: true });
    return (await thread(contact.id))[1]!;
  };

  it('says what its HTML says', async () => {
    const html = `<html><head><style>p { color: red }</style></head><body><p>Caf&eacute; &amp;&nbsp;more</p>
      <!-- unseen --><ul><li>One</li><li>Two &lt; three</li></ul><script>hidden()</script></body></html>`;
    const kept = await keptOf((to) => answer({ to }, html).replace('text/plain', 'text/html'));
    expect(kept).toMatchObject({ body: 'Café & more\n\nOne\n\nTwo < three', bodyHtml: expect.stringContaining('<p>Caf&eacute;') });
    // Old clients write a character beyond the first 65,536 as two references; one of them alone is none.
    const halves = await keptOf((to) => answer({ to }, '<p>Hi &#55357; there &#55357;&#56832;</p>').replace('text/plain', 'text/html'));
    expect(halves.body).toBe('Hi  there 😀');
    const mixed = await keptOf((to) => inParts(to, ['text/plain', 'Above'], ['text/html', '<p>Below</p>']));
    expect(mixed.body).toMatch(/^Above\s+Below$/);
  });

  it('is called by its subject, or says that there is none', async () => {
    const picture: [string, string] = ['image/png', 'x'];
    expect((await keptOf((to) => inParts(to, picture))).body).toBe('A picture');
    expect((await keptOf((to) => inParts(to, picture).replace('Subject: A picture', 'Subject: '))).body).toBe('No text');
    expect((await keptOf((to) => inParts(to, ['text/html', '<img src="x">']))).body).toBe('A picture');
  });

  it.each(['<a href=', '<', '<!--', '<style>', '&', '\n '])('is read at once where its HTML is %j and no end', async (part) => {
    const begun = Date.now();
    await keptOf((to) => inParts(to, ['text/plain', 'Above'], ['text/html', part.repeat(100_000 / part.length)]));
    expect(Date.now() - begun).toBeLessThan(5000);
  });
});

const complaint = (messageId: string) =>
  lines(
    ...['From: fbl@example.com', 'To: fbl@acme.example', 'Subject: complaint'],
    ...['Content-Type: multipart/report; report-type=feedback-report; boundary=b', ''],
    ...['--b', 'Content-Type: message/feedback-report', '', 'Feedback-Type: abuse', 'Version: 1', ''],
    ...['--b', 'Content-Type: text/rfc822-headers', '', `Message-ID: ${messageId}`, '', '--b--', ''],
  );

describe('a mail that comes back', () => {
  it('for good has failed', async () => {
    const { message, mail } = await sent();
    await brought(bounce(mail.messageId, '5.1.1'));
    const [now] = dataOf(await acme.owner.get(`/messages?contact_id=${message.contactId}`)).data;
    expect(now).toMatchObject({ status: 'failed', error: 'bounced', bouncedAt: expect.any(String) });
  });

  it('before it is known to have gone has failed, and is not due any more', async () => {
    const { message, mail } = await sent();
    const where = { accountId: acme.id, id: message.id };
    const { prisma } = api.app.database;
    // As it was until what became of it was kept. In the lease of whoever sends it nobody else takes it.
    const [dueAt, leasedUntil] = [api.clock.now(), new Date(Date.now() + hour)];
    await prisma.message.updateMany({ where, data: { status: 'queued', sentAt: null, providerId: null, dueAt, leasedUntil } });
    await brought(bounce(mail.messageId, '5.1.1'));
    const now = await prisma.message.findFirstOrThrow({ where });
    expect(now).toMatchObject({ status: 'failed', error: 'bounced', dueAt: null, leasedUntil: null });
  });

  it.each([
    ['4.2.2', 'failed'],
    ['5.0.0', 'delayed'],
  ])('for now (%s, %s) is as it was', async (status, action) => {
    const { mail } = await sent();
    await expectNothingWritten(api, () => brought(bounce(mail.messageId, status, action)));
  });

  it.each([[false], [true]])('with a complaint opts its reader out (deleted meanwhile: %s)', async (isDeleted) => {
    const { contact, mail, message } = await sent();
    const other = await acme.contact({ email: contact.email });
    if (isDeleted) dataOf(await acme.owner.del(`/contacts/${contact.id}`));
    expect(answered(await brought(complaint(mail.messageId)))).toEqual({ taken: true });
    if (isDeleted) dataOf(await acme.owner.post(`/contacts/${contact.id}/restore`));
    for (const { id } of [contact, other]) expect(dataOf(await acme.owner.get(`/contacts/${id}`)).optedOutEmail).toBe(true);
    const { data } = dataOf(await acme.owner.get(`/messages?contact_id=${contact.id}`));
    expect(data).toMatchObject([{ id: message.id, unsubscribedAt: expect.any(String) }]);
  });
});

describe('what comes while the account is suspended', () => {
  it('is taken where it is a complaint or a report, and no answer is', async () => {
    const [angry, gone, friend] = [await sent(), await sent(), await sent()];
    const suspend = (suspendedAt: Date | null) => api.app.database.prisma.account.update({ where: { id: acme.id }, data: { suspendedAt } });
    await suspend(api.clock.now());
    const replies = [
      await brought(complaint(angry.mail.messageId)),
      await brought(bounce(gone.mail.messageId, '5.1.1')),
      await brought(answer({ to: friend.mail.replyTo })),
    ];
    await suspend(null);
    expect(replies.map((reply) => answered(reply).taken)).toEqual([true, true, false]);
    expect(dataOf(await acme.owner.get(`/contacts/${angry.contact.id}`)).optedOutEmail).toBe(true);
    const { data } = dataOf(await acme.owner.get(`/messages?contact_id=${gone.contact.id}`));
    expect(data).toMatchObject([{ id: gone.message.id, status: 'failed', error: 'bounced' }]);
    expect(await thread(friend.contact.id)).toHaveLength(1);
  });
});

/** A mail to us of a text and an HTML part. */
const mixed = (to: string, html: string) =>
  lines(
    ...['From: Eve <eve@example.com>', `To: <${to}>`, 'Content-Type: multipart/mixed; boundary=b', ''],
    ...['--b', 'Content-Type: text/plain', '', 'Yes', '--b', 'Content-Type: text/html', '', html, '--b--', ''],
  );

describe('a mail that would take long to be read', () => {
  it('holds up nobody, and is taken', async () => {
    const { contact, mail } = await sent();
    const began = Date.now();
    const html = `<a ${'href=x'.repeat(600)}`;
    const [reply] = await Promise.all([brought(mixed(mail.replyTo, html)), acme.owner.get('/contacts')]);
    expect(answered(reply)).toEqual({ taken: true });
    expect(Date.now() - began).toBeLessThan(2000);
    const [, answer] = await thread(contact.id);
    expect(answer).toMatchObject({ body: expect.stringMatching(/^Yes\s*$/), bodyHtml: expect.stringContaining(html) });
  });

  it.each([
    ['text', (to: string) => answer({ to }, 'x\n'.repeat(380_000))],
    ['text between its parts', (to: string) => mixed(to, '').replace('--b', `${'x\n'.repeat(380_000)}--b`)],
    ['text, in a part', (to: string) => mixed(to, '').replace('Yes', 'x\n'.repeat(380_000))],
  ])('is read at once where it is 380,000 lines of %s', async (_what, make) => {
    const { contact, mail } = await sent();
    const began = Date.now();
    expect(answered(await brought(make(mail.replyTo)))).toEqual({ taken: true });
    expect(Date.now() - began).toBeLessThan(4000);
    expect((await thread(contact.id))[1]!.body).toMatch(/^(x\n{1,2}){200000}|^Yes/);
  });

  it.each([
    ['of half a million lines', '\n'.repeat(500_000)],
    ['of six thousand parts', '--b\r\n\r\nx\r\n'.repeat(6000)],
  ])('is refused: one %s', async (_what, html) => {
    const { contact, mail } = await sent();
    expectRefusal(await brought(mixed(mail.replyTo, html)), 400);
    expect(await thread(contact.id)).toHaveLength(1);
  });

  it('is not read at all where it is for nobody', async () => {
    expect(answered(await brought(mixed('somebody@in.example.com', '\n'.repeat(500_000))))).toEqual({ taken: false });
  });

  it('is given up after its time, and the next one is read', async () => {
    const body = Buffer.from(mixed('somebody@in.example.com', 'x'.repeat(5_000_000)));
    await expect(readMail('eve', { body, isReport: false }, 1)).rejects.toMatchObject({ status: 503 });
    expect(await readMail('eve', { body, isReport: false })).toMatchObject({ text: expect.stringMatching(/^Yes\s+x+/) });
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

  it('finds no endpoint where none is set up', async () => {
    const closed = await server();
    const reply = await closed.anybody().raw({ method: 'POST', path: '/webhooks/email/inbound', headers: {}, payload: 'x' });
    expect(reply.status).toBe(404);
    await closed.close();
  });
});
