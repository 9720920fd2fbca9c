import { limited } from '../../kernel/access/rateLimits.js';
import { AppError, check, denied } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import { htmlPage } from '../../kernel/module/page.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { countMail, type Mailing, mailOfToken } from './auth.mail.js';
import { tellVerified } from './auth.memberEvents.js';
import { done, type VerifyEmailInput } from './auth.model.js';
import { callingUser } from './auth.session.js';
import { issueToken, useToken } from './auth.tokens.js';

/** The mail with the link that verifies a person's address; an older link ends. */
export async function verificationMail(inside: Context, { id, email }: { id: string; email: string }): Promise<Mailing> {
  const token = await issueToken(inside, 'verify', id);
  const link = `${inside.app.config.publicUrl}/verify-email?token=${token}`;
  const text = `Somebody registered with ${email}.\n\nTo say that it was you, open this link within seven days:\n${link}\n\nIf it was not you, do nothing.`;
  return mailOfToken(inside, token, { to: email, subject: 'Verify your e-mail address', text });
}

/** POST /auth/resend-verification: another link to the caller's address, unless it is verified. 429 after some an hour. */
export async function resendVerification(ctx: Context) {
  const user = await callingUser(ctx);
  if (user.emailVerifiedAt) return done;
  const spent = await countMail(ctx, 'verify', user.email);
  if (spent.refused) throw limited(spent);
  const mailing = await ctx.transaction((inside) => verificationMail(inside, user));
  mailing(ctx);
  return done;
}

/** POST /auth/verify-email: the token of the link, once. 400 when it is wrong, used or expired. It is no login. */
export async function verifyEmail(ctx: Context, { token }: VerifyEmailInput) {
  const { userId } = await useToken(ctx, 'verify', token);
  await keepVerified(ctx, userId);
  return done;
}

/** Keeps that a mail to a person's address has reached them, and tells where they are a member; whether it was the first one. */
export async function keepVerified(inside: Context, userId: string): Promise<boolean> {
  const data = { emailVerifiedAt: inside.now() };
  const { count } = await inside.global.user.updateMany({ where: { id: userId, emailVerifiedAt: null }, data });
  if (count > 0) await tellVerified(inside, userId);
  return count > 0;
}

/** What a link leads to that is not good, or no longer. */
export const deadLink = (why: string): RawReply => ({ ...htmlPage('This link does not work', why), status: 400 });

/** GET /verify-email, where the link leads. It only asks: what looks into mails opens links too. */
export const showVerification = async (_ctx: Context, _request: CallbackRequest): Promise<RawReply> =>
  htmlPage('Verify your e-mail address', 'Is this address yours?', { button: 'Yes, it is mine' });

/** POST /verify-email: what its button does. */
export async function confirmVerification(ctx: Context, { query }: CallbackRequest): Promise<RawReply> {
  try {
    await ctx.transaction((inside) => verifyEmail(inside, { token: query.token ?? '' }));
    return htmlPage('Thank you', 'Your e-mail address is verified.');
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 400) throw error;
    return deadLink('It was used before, or it is older than seven days.');
  }
}

/**
 * What sends mail in the name of a person or a workspace asks this first: 403 until the caller's address is verified, where
 * REQUIRE_VERIFIED_EMAIL says so. A key is as good as the person who made it.
 */
export async function checkMayMail(ctx: Context): Promise<void> {
  // Where the account itself is at work, whoever set it to work was asked.
  if (!ctx.app.config.requireVerifiedEmail || ctx.caller.kind === 'account') return;
  const { emailVerifiedAt } = await callingUser(ctx);
  check(emailVerifiedAt, () => denied('Verify your e-mail address first: POST /auth/resend-verification sends the link again'));
}
