import { createHmac } from 'node:crypto';
import { expect } from '@jest/globals';
import { type Account, dataOf, type Loose, type TestServer } from './index.js';
import { eventually } from './live.js';
import { mailsTo } from './mail.js';

/** Who brings mail to a server, as its configuration says. */
export const inboundMail = { secret: 'the secret of those who bring mail', domain: 'in.example.com' };

/** A mail of these lines. */
export const lines = (...all: string[]) => all.join('\r\n');

let ids = 0;

/** A mail that answers one of ours. */
export const answer = ({ to, inReplyTo = '', more = [] }: { to: string; inReplyTo?: string; more?: string[] }, text = 'Yes, please') =>
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

/** What a mail server reports of one of our mails. */
export const bounce = (messageId: string, status: string, action = 'failed') =>
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

/** What the server says of a mail that was brought. */
export const answered = ({ status, body }: Loose) => {
  expect(status).toBe(200);
  return body.data;
};

/** Mails of an account to new contacts, and what is brought to its server. */
export function mailing(api: TestServer, account: Account) {
  let readers = 0;
  /** A mail to a contact as its reader has it. */
  const sentTo = async (contact: Loose, before = 0) => {
    const message = dataOf(await account.owner.post('/email/send', { contactId: contact.id, subject: 'Offer', body: 'Hello' }));
    const mail: Loose = await eventually(async () => (await mailsTo(api, contact.email))[before]);
    return { contact, message, mail };
  };
  return {
    sentTo,
    sent: async () => sentTo(await account.contact({ email: `answers${++readers}@example.com` })),
    brought: (raw: string, signature?: string) => {
      const signed = signature ?? `sha256=${createHmac('sha256', inboundMail.secret).update(raw).digest('hex')}`;
      const headers = { 'content-type': 'message/rfc822', 'x-inbound-signature': signed };
      return api.anybody().raw({ method: 'POST', path: '/webhooks/email/inbound', headers, payload: raw });
    },
    thread: async (contactId: string): Promise<Loose[]> => dataOf(await account.owner.get(`/conversations/${contactId}`)).messages,
  };
}
