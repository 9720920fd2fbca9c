import { mailsSent } from '../../src/modules/auth/auth.mail.js';
import type { Loose } from './client.js';
import { messagesLeft, type Outbox } from './outbox.js';

/** The mails that were sent to an address, the oldest first. */
export async function mailsTo(outbox: Outbox, address: string): Promise<Loose[]> {
  await mailsSent();
  // The file of a mail is named by its Message-ID, which does not sort.
  return messagesLeft(outbox)
    .filter(({ to }) => to === address)
    .sort((a, b) => (a.sentAt < b.sentAt ? -1 : Number(a.sentAt > b.sentAt)));
}

/** The token of the link to a page in the last mail to an address that has one: `accept-invite`, `reset-password`, `verify-email`. */
export async function tokenMailed(outbox: Outbox, address: string, page: string): Promise<string> {
  const tokens = (await mailsTo(outbox, address)).flatMap(({ body }) => new RegExp(`/${page}\\?token=([\\w-]+)`).exec(body)?.[1] ?? []);
  const last = tokens.at(-1);
  if (!last) throw new Error(`No mail to ${address} leads to ${page}`);
  return last;
}
