import { check, found, invalidField } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { isEmail } from '../../kernel/model/checks.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { isPasswordOf } from './auth.guesses.js';
import { callersChanged } from './auth.identify.js';
import { countMail, mailInBackground } from './auth.mail.js';
import { tellJoined } from './auth.memberEvents.js';
import {
  type AcceptInviteInput,
  type AuthResult,
  type ChangePasswordInput,
  done,
  type ForgotPasswordInput,
  type ResetPasswordInput,
} from './auth.model.js';
import { hashChosen } from './auth.newPassword.js';
import { callingUser, displayName, dropMfa, enter, findUser, holdPassword, placesOf, revokeSessions } from './auth.session.js';
import { endPasswordTokens, findToken, issueToken, useToken, wrongToken } from './auth.tokens.js';
import { keepVerified } from './auth.verification.js';

/** Keeps a new password; whatever the old one opened ends: links and tokens, and the sessions, all or all but one. */
async function keepPassword(inside: Context, userId: string, passwordHash: string, sessions: { except?: string } = {}): Promise<void> {
  await inside.global.user.update({ where: { id: userId }, data: { passwordHash } });
  await endPasswordTokens(inside, userId);
  await revokeSessions(inside, userId, sessions);
}

/** Contract POST /auth/change-password: 400 naming currentPassword when it is wrong; the other sessions end. */
export async function changePassword(ctx: Context, { currentPassword, newPassword }: ChangePasswordInput) {
  const { id } = ctx.caller;
  const user = await callingUser(ctx);
  const wrong = () => invalidField('currentPassword', 'incorrect', 'is wrong');
  check(await isPasswordOf(ctx, user.email, user, currentPassword), wrong);
  const passwordHash = await hashChosen(ctx, newPassword, 'newPassword');
  await inFinalTransaction(ctx, async (inside) => {
    check(await holdPassword(inside, user), wrong);
    await keepPassword(inside, user.id, passwordHash, { except: id });
    return done;
  });
  callersChanged(ctx, 'everywhere');
  return done;
}

/**
 * Contract POST /auth/forgot-password: 200 and as fast whether or not the address is known, or one at all. Who was only invited
 * gets a link too: their first password. A few mails an hour go to one address.
 */
export async function forgotPassword(ctx: Context, input: ForgotPasswordInput) {
  const email = input.email?.trim() ?? '';
  mailInBackground(ctx, async () => {
    const user = isEmail(email) ? await findUser(ctx, email) : null;
    if (!user || (await countMail(ctx, 'reset', user.email)).refused) return undefined;
    const token = await issueToken(ctx, 'reset', user.id);
    const link = `${ctx.app.config.publicUrl}/reset-password?token=${token}`;
    const text = `Somebody asked to reset the password of ${user.email}.\n\nTo choose a new one, open this link within an hour:\n${link}\n\nIf it was not you, do nothing.`;
    return { to: user.email, subject: 'Reset your password', text };
  });
  return done;
}

/**
 * Contract POST /auth/reset-password: the token works once; every session of the person ends. Its link came by mail: the address is
 * theirs. A second factor of before anybody had proved the address may be a stranger's, and ends, as what was only begun of one does.
 */
export async function resetPassword(ctx: Context, { token, password }: ResetPasswordInput) {
  check(await findToken(ctx, 'reset', token), wrongToken);
  const passwordHash = await hashChosen(ctx, password);
  await inFinalTransaction(ctx, async (inside) => {
    const { userId } = await useToken(inside, 'reset', token);
    await keepPassword(inside, userId, passwordHash);
    const isFirstProof = await keepVerified(inside, userId);
    await dropMfa(inside, userId, isFirstProof ? {} : { mfaEnabledAt: null });
    return done;
  });
  callersChanged(ctx, 'everywhere');
  return done;
}

/** Contract POST /auth/accept-invite: makes the person a member, then as login. */
export const acceptInvite = (ctx: Context, input: AcceptInviteInput): Promise<AuthResult> => join(ctx, input, enter);

/** The same without logging in: a form of any site can be sent to the page of a link, and would log a visitor in as its maker likes. */
export const acceptInviteByPage = (ctx: Context, input: AcceptInviteInput) => join(ctx, input, async () => done);

/**
 * Makes whoever has the token of an invitation a member: a new person chooses a password, an existing one proves theirs. Only now
 * the account sees what the person is called. The token came by mail: the address is theirs.
 */
async function join<T>(ctx: Context, input: AcceptInviteInput, conclude: (...joined: Parameters<typeof enter>) => Promise<T>): Promise<T> {
  const invite = await findToken(ctx, 'invite', input.token);
  check(invite?.accountId, wrongToken);
  const user = found(await ctx.global.user.findUnique({ where: { id: invite.userId } }), 'User');
  const notTheirs = () => invalidField('password', 'incorrect', 'is not your current password');
  const isNew = user.passwordHash === null;
  if (!isNew) check(await isPasswordOf(ctx, user.email, user, input.password), notTheirs);
  const chosen = isNew ? { ...namesFor(user, input, invite.data), passwordHash: await hashChosen(ctx, input.password) } : {};
  const key = { accountId: invite.accountId, userId: user.id };
  return inFinalTransaction(ctx, async (inside) => {
    await useToken(inside, 'invite', input.token);
    check(await holdPassword(inside, user), notTheirs);
    if (isNew) await endPasswordTokens(inside, user.id);
    await keepVerified(inside, user.id);
    const saved = await inside.global.user.update({ where: { id: user.id }, data: chosen });
    const before = found(await inside.global.membership.findUnique({ where: { key } }), 'User');
    const place = await inside.global.membership.updateMany({
      where: { ...key, status: 'invited' },
      data: { status: 'active', name: isNew ? nameOf(saved, before) : displayName(saved), invitedEmail: null },
    });
    check(place.count === 1, wrongToken);
    const places = await placesOf(inside, user.id);
    const joined = found(
      places.find(({ account }) => account.id === key.accountId),
      'Account',
    );
    await tellJoined(inside, { name: before.name, email: before.invitedEmail ?? user.email }, saved, joined);
    return conclude(inside, saved, joined, places);
  });
}

/** What the account calls a new person: as they say, else as it did before. An address in the place of a name is none. */
function nameOf(person: Parameters<typeof displayName>[0], before: { name: string }): string {
  const isNamed = before.name.toLowerCase() !== person.email.toLowerCase();
  return isNamed && !person.firstName && !person.lastName ? before.name : displayName(person);
}

/** What a new person is called: as they say, else as the inviter wrote; never as another inviter did. */
function namesFor({ email }: { email: string }, given: AcceptInviteInput, sent: unknown) {
  const invited = sent as Partial<Record<'email' | 'firstName' | 'lastName', string | null>> | null;
  const firstName = given.firstName ?? invited?.firstName ?? null;
  return { email: invited?.email ?? email, firstName, lastName: given.lastName ?? invited?.lastName ?? null };
}
