import type { Spent } from '../../kernel/access/rateLimits.js';
import { type Context, inLog } from '../../kernel/context/context.js';
import type { Email } from '../../vendors/email/email.js';

const pending = new Set<Promise<unknown>>();

/**
 * Writes and sends a mail after the answer, so that its time tells nobody whether there was one to send. A fault is
 * logged; the person asks again.
 */
export function mailInBackground(ctx: Context, write: () => Promise<Email | undefined>): void {
  const sending = write()
    .then((email) => email && ctx.app.vendors.email.send(email))
    .catch((error: unknown) => ctx.app.log.error({ err: error, ...inLog(ctx.request) }, 'a mail could not be sent'))
    .finally(() => pending.delete(sending));
  pending.add(sending);
}

/** Waits for the mails that are under way: before the database closes. */
export const mailsSent = () => Promise.all(pending);

/** Counts a mail to an address that anybody may have named: of each kind a few an hour. A +tag is the same mailbox. */
export const countMail = (ctx: Context, kind: 'invite' | 'reset' | 'verify' | 'test', to: string): Promise<Spent> =>
  ctx.app.limiter.spend('recipient', `${kind}:${to.toLowerCase().replace(/\+[^@]*@/, '@')}`);

const longestName = 60;

/**
 * A name as it stands in a mail to somebody who never asked for it: short, on one line, and with nothing in it that a mail
 * program turns into a link or an address. What is left may be empty.
 */
export function plainName(name: string): string {
  const words = name
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .split(' ')
    .filter((word) => !/@|:\/|^www\./i.test(word))
    // A dot inside of a word makes it a domain; between words it ends a sentence or an abbreviation.
    .map((word) => word.replace(/[.\u3002\uff0e\uff61](?=[^.])/gu, ' '));
  const plain = words.join(' ').replace(/ +/g, ' ').trim();
  return [...plain].slice(0, longestName).join('').trim();
}
