import { limited } from '../../kernel/access/rateLimits.js';
import { check, taken } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { changesBetween } from '../../kernel/events/facts.js';
import { countMail, mailInBackground, plainName } from '../auth/auth.mail.js';
import { displayName, personWith } from '../auth/auth.session.js';
import { issueToken } from '../auth/auth.tokens.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { checkPlan } from '../plans/plan.limits.js';
import { usersOfPlan } from './user.limit.js';
import type { InviteUserInput, User } from './user.model.js';
import { checkRole, getUser } from './user.service.js';

/**
 * Contract POST /users/invite: 201 with the user, status invited, and a mail whose link accepts. Inviting again sends a new link.
 * Of a person who is known elsewhere the answer says no more than the inviter did.
 */
export async function inviteUser(ctx: Context, input: InviteUserInput): Promise<User> {
  const { email, firstName, lastName } = input;
  const role = input.role ?? 'member';
  checkRole(role);
  await checkMayMail(ctx);
  await spendInvitation(ctx, email);
  const { userId, token } = await ctx.transaction(async (inside) => {
    const person = await personWith(inside, email);
    await place(inside, person.id, { ...input, role });
    const data = { email, firstName, lastName };
    return { userId: person.id, token: await issueToken(inside, 'invite', person.id, { account: inside.caller.account.id, data }) };
  });
  mailInBackground(ctx, async () => invitation(ctx, email, token));
  return getUser(ctx, userId);
}

/** Counts an invitation of the account, and of the address by whomever. Throws 429. */
async function spendInvitation(ctx: Context, email: string): Promise<void> {
  const ofAccount = await ctx.app.limiter.spend('invite', ctx.caller.account.id);
  if (ofAccount.refused) throw limited(ofAccount);
  const ofAddress = await countMail(ctx, 'invite', email);
  if (ofAddress.refused) throw limited(ofAddress);
}

/** Gives a person a place in the account that they may accept, or renews it. */
async function place(inside: Context, userId: string, input: InviteUserInput & { role: string }): Promise<void> {
  const { email, firstName, lastName, phone, extension, role } = input;
  const known = await inside.db.membership.findFirst({ where: { userId } });
  check(!known || ['invited', 'removed'].includes(known.status), () => taken('email', 'belongs to a member already'));
  if (known?.status !== 'invited') await checkPlan(inside, usersOfPlan);
  const permissions = input.permissions ?? {};
  const invitedBy = inside.caller.userId;
  const data = { role, phone, extension, permissions, status: 'invited', invitedBy, invitedAt: inside.now(), invitedEmail: email };
  const name = known && !firstName && !lastName ? known.name : displayName({ email, firstName, lastName });
  if (known) await inside.db.membership.updateMany({ where: { userId }, data: { ...data, name, removedAt: null } });
  else await inside.db.membership.create({ data: { ...data, userId, name } });
  await emitInvited(inside, userId, known?.status === 'invited' ? known : undefined);
}

/** Tells that somebody was invited, for the first time or again. */
async function emitInvited(inside: Context, id: string, before?: object): Promise<void> {
  const record = await getUser(inside, id);
  const changes = before && changesBetween(before, record, ['role', 'phone', 'extension']);
  await inside.emit({ name: before ? 'user.updated' : 'user.created', record, changes, also: { 'user.invited': [] } });
}

function invitation(ctx: Context, to: string, token: string) {
  const who = plainName(ctx.caller.userName) || 'Somebody';
  const where = plainName(ctx.caller.account.name) || 'a workspace';
  const link = `${ctx.app.config.publicUrl}/accept-invite?token=${token}`;
  return {
    to,
    subject: `Invitation to ${where}`,
    text: `${who} invites you to ${where}.\n\nTo accept, open this link within seven days:\n${link}`,
  };
}
