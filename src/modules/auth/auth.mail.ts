import { limited, type Spent } from '../../kernel/access/rateLimits.js';
import { seal, unseal } from '../../kernel/base/crypto.js';
import { type App, type Context, inLog } from '../../kernel/context/context.js';
import type { Email } from '../../vendors/email/email.js';
import { mailTries, mailUnlessRefused } from '../../vendors/email/mailJob.js';
import { digest } from './auth.secrets.js';

const pending = new Set<Promise<unknown>>();

/**
 * Writes and sends a mail after the answer, so that its time tells nobody whether there was one to send. A fault is
 * logged; the person asks again.
 */
export function mailInBackground(ctx: Context, write: () => Promise<Email | undefined>, sent?: () => Promise<unknown>): void {
  const sending = write()
    .then((email) => email && ctx.app.vendors.email.send(email))
    .then(sent)
    .catch((error: unknown) => ctx.app.log.error({ err: error, ...inLog(ctx.request) }, 'a mail could not be sent'))
    .finally(() => pending.delete(sending));
  pending.add(sending);
}

/** Waits for the mails that are under way. */
export const mailsSent = () => Promise.all(pending);

/** How long a stop waits for mails: a mail server may keep one for longer than the whole stop may take. */
const farewellMs = 2000;

/** Waits for the mails that are under way before the database closes, but only for `farewellMs`. */
export async function mailsSentInTime(log: App['log']): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resume) => {
    timer = setTimeout(resume, farewellMs);
  });
  await Promise.race([mailsSent(), late]);
  clearTimeout(timer);
  if (pending.size > 0) log.warn({ mails: pending.size }, 'mails were given up: the mail server did not take them in time');
}

/** Seconds that the first try of a mail has. */
const firstTrySeconds = 60;
const sealedAt = (hash: string) => `pgboss.job.${hash}`;
const keepMailed = (ctx: Context, hash: string) => ctx.global.token.updateMany({ where: { hash }, data: { mailedAt: ctx.now() } });

/** Tries to send a mail, after the answer. */
export type Mailing = (ctx: Context) => void;

/**
 * Has the mail of a token sent that this unit of work issues. The first try is what this answers, for after the commit. Where that fails,
 * or the process ends before it, the queue goes on: who is invited or registers does not know of a mail to ask for.
 */
export async function mailOfToken(inside: Context, token: string, mail: Email): Promise<Mailing> {
  const hash = digest(token);
  const sealed = seal(inside.app, 'mail', sealedAt(hash), JSON.stringify(mail));
  await inside.enqueue('mailOfToken', { hash, sealed }, { ...mailTries, startAfter: firstTrySeconds });
  return (ctx) =>
    mailInBackground(
      ctx,
      async () => mail,
      () => keepMailed(ctx, hash),
    );
}

/** Sends the mail of a token that did not go at first, as long as the token is good. */
export async function mailOfTokenAgain(ctx: Context, { hash, sealed }: { hash: string; sealed: string }): Promise<void> {
  const token = await ctx.global.token.findUnique({ where: { hash } });
  if (!token || token.mailedAt || token.usedAt || token.expiresAt <= ctx.now()) return;
  await mailUnlessRefused(ctx, JSON.parse(unseal(ctx.app, 'mail', sealedAt(hash), sealed)) as Email);
  await keepMailed(ctx, hash);
}

/** Counts a mail to an address that anybody may have named: of each kind a few an hour. A +tag is the same mailbox. */
export const countMail = (ctx: Context, kind: 'invite' | 'reset' | 'verify' | 'test', to: string): Promise<Spent> =>
  ctx.app.limiter.spend('recipient', `${kind}:${to.toLowerCase().replace(/\+[^@]*@/, '@')}`);

/**
 * Counts a mail that somebody of the account has sent to an address of their choice: of each kind so many an hour for the account, and a
 * few for the address, whichever account asks. Throws 429.
 */
export async function spendChosenMail(ctx: Context, kind: 'invite' | 'test', to: string): Promise<void> {
  const { id } = ctx.caller.account;
  const ofAccount = await ctx.app.limiter.spend('invite', kind === 'invite' ? id : `${kind}:${id}`);
  if (ofAccount.refused) throw limited(ofAccount);
  const ofAddress = await countMail(ctx, kind, to);
  if (ofAddress.refused) throw limited(ofAddress);
}

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
