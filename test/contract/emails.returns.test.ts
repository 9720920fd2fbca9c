import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { answer, answered, inboundMail, lines, mailing } from '../support/inboundMail.js';
import { type Account, dataOf, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let mails: ReturnType<typeof mailing>;
beforeAll(async () => {
  api = await server({ config: { inboundMail } });
  acme = await api.seed.account();
  mails = mailing(api, acme);
});
afterAll(() => api.close());

/** The envelope of a mail to a contact, as its mail server is given it, and the message. */
async function envelopeOf(bounces?: 'domain' | 'sender') {
  const envelopes: SMTPServerSession['envelope'][] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onData: (stream, { envelope }, done) => {
      stream.resume();
      envelopes.push(envelope);
      done();
    },
  });
  smtp.on('error', () => {});
  await new Promise<void>((listening) => smtp.listen(0, '127.0.0.1', listening));
  const smtpUrl = `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`;
  const own = await server({ config: { inboundMail: { ...inboundMail, bounces }, smtpUrl, mailFrom: 'Acme <hello@acme.example>' } });
  const account = await own.seed.account();
  const { id: contactId } = await account.contact({ email: 'ann@example.com' });
  const message = dataOf(await account.owner.post('/email/send', { contactId, subject: 'Offer', body: 'Hello' }));
  await Promise.all([own.close(), new Promise<void>((closed) => smtp.close(closed))]);
  const isToAnn = ({ rcptTo }: SMTPServerSession['envelope']) => rcptTo.some(({ address }) => address === 'ann@example.com');
  return { message, envelopes: envelopes.filter(isToAnn) };
}

describe('a mail to a contact', () => {
  it.each([
    [undefined, expect.stringMatching(/^[0-9a-z]{64}@in\.example\.com$/)],
    ['domain', expect.stringMatching(/^[0-9a-z]{64}@in\.example\.com$/)],
    ['sender', 'hello@acme.example'],
  ] as const)('comes back to where it is brought from, or to its sender (MAIL_BOUNCES: %s)', async (bounces, address) => {
    const { message, envelopes } = await envelopeOf(bounces);
    expect(message).toMatchObject({ status: 'sent', fromEmail: 'hello@acme.example', toEmail: 'ann@example.com' });
    expect(envelopes).toMatchObject([{ mailFrom: { address }, rcptTo: [{ address: 'ann@example.com' }] }]);
  });

  it('has failed by a report to that address, which may say nothing else of the mail', async () => {
    const { message, mail } = await mails.sent();
    expect(mail.envelope).toEqual({ from: mail.replyTo, to: mail.to });
    const report = lines(
      ...['Return-Path: <>', 'From: MAILER-DAEMON@mx.example.com', `To: <${mail.envelope.from}>`, 'Auto-Submitted: auto-replied'],
      ...['Content-Type: multipart/report; report-type=delivery-status; boundary=b', ''],
      ...['--b', 'Content-Type: text/plain', '', 'It did not arrive.', ''],
      ...['--b', 'Content-Type: message/delivery-status', '', 'Action: failed', 'Status: 5.1.1', '', '--b--', ''],
    );
    expect(answered(await mails.brought(report))).toEqual({ taken: true });
    const { data } = dataOf(await acme.owner.get(`/messages?contact_id=${message.contactId}`));
    expect(data).toMatchObject([{ id: message.id, status: 'failed', error: 'bounced' }]);
  });
});

describe('what a mail server says in a form of its own, to the address of a mail', () => {
  const person = 'From: Ann <ann@example.com>';

  it.each([
    ['has no sender', 'Return-Path: <>', person],
    ['is from its daemon', 'X-Mailer: qmail', 'From: MAILER-DAEMON@mx.example.com'],
    ['is from its daemon, by name', 'X-Mailer: mx', 'From: "Mailer-Daemon" <postmaster@mx.example.com>'],
  ])('is kept, and is no answer, where it %s', async (_what, line, from) => {
    const { contact, mail } = await mails.sent();
    const raw = answer({ to: mail.replyTo, more: [line] }, 'I am afraid that it could not be delivered').replace(person, from);
    expect(answered(await mails.brought(raw))).toEqual({ taken: true });
    const [first, kept] = await mails.thread(contact.id);
    expect([first!.repliedAt, kept!.metadata.automatic]).toEqual([null, true]);
  });

  it('is not what a person answers, whose mail has a sender', async () => {
    const { contact, mail } = await mails.sent();
    await mails.brought(answer({ to: mail.replyTo, more: ['Return-Path: <ann@example.com>'] }));
    const [first, kept] = await mails.thread(contact.id);
    expect([first!.repliedAt, kept!.metadata.automatic]).toEqual([expect.any(String), undefined]);
  });
});
