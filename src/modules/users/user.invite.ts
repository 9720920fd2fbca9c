import { check, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { asE164 } from '../../kernel/model/checks.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { type Mailing, mailOfToken, plainName, spendChosenMail } from '../auth/auth.mail.js';
import { displayName, personWith } from '../auth/auth.session.js';
import { issueToken, lastDataOf } from '../auth/auth.tokens.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { checkPlan } from '../plans/plan.limits.js';
import { usersOfPlan } from './user.limit.js';
import type { InviteUserInput, User } from './user.model.js';
import { getUser, userLoader } from './user.service.js';

/**
 * Contract POST /users/invite: 201 with the user, status invited, and a mail whose link accepts. Inviting again sends a new link.
 * Of a person who is known elsewhere the answer says no more than the inviter did.
 */
export async function inviteUser(ctx: Context, input: InviteUserInput): Promise<User> {
  const { email, firstName, lastName } = input;
  await checkMayMail(ctx);
  await spendChosenMail(ctx, 'invite', email);
  let mailing: Mailing | undefined;
  const user = await inFinalTransaction(ctx, async (inside) => {
    const { id } = await personWith(inside, email);
    // One invitation of a person at a time, also of one who has no place yet.
    await inside.lockName(`place ${id}`);
    // Before the place is looked at: an acceptance that is under way ends first, or finds its token ended.
    const data = { email, ...(firstName || lastName ? { firstName, lastName } : await namesSent(inside, id)) };
    const token = await issueToken(inside, 'invite', id, { account: inside.caller.account.id, data });
    await place(inside, id, input);
    mailing = await mailOfToken(inside, token, invitation(ctx, email, token));
    return getUser(inside, id);
  });
  mailing?.(ctx);
  return user;
}

/** The names that the account's last invitation of a person gave: who only sends a new link need not give them again. */
async function namesSent(inside: Context, userId: string) {
  const { firstName, lastName } = await lastDataOf(inside, 'invite', userId, inside.caller.account.id);
  return { firstName, lastName };
}

const holdPlace = statement({
  name: 'holdPlace',
  takes: { user: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, user }) => sql`select user_id as id from memberships where account_id = ${account} and user_id = ${user} for update`,
});

/** Gives a person a place in the account that they may accept, or renews it. */
async function place(inside: Context, userId: string, input: InviteUserInput): Promise<void> {
  const { email, firstName, lastName, extension } = input;
  // By the country of now: that of later would make it another number.
  const phone = input.phone && asE164(input.phone, inside.caller.account.defaultCountry);
  await inside.rows(holdPlace, { user: userId });
  const known = await inside.db.membership.findFirst({ where: { userId } });
  check(!known || ['invited', 'removed'].includes(known.status), () => unprocessable('email', 'taken', 'belongs to a member already'));
  const before = known && (await userLoader(inside).load(userId));
  // Who was removed begins anew.
  const invited = known?.status === 'invited' ? known : null;
  if (!invited) await checkPlan(inside, usersOfPlan);
  const role = input.role ?? invited?.role ?? 'member';
  const permissions = input.permissions ?? (invited?.permissions as object | undefined) ?? {};
  const invitedBy = inside.caller.userId;
  const data = { role, phone, extension, permissions, status: 'invited', invitedBy, invitedAt: inside.now(), invitedEmail: email };
  const name = known && !firstName && !lastName ? known.name : displayName({ email, firstName, lastName });
  if (known) await inside.db.membership.updateMany({ where: { userId }, data: { ...data, name, removedAt: null } });
  else await inside.db.membership.create({ data: { ...data, userId, name } });
  await emitInvited(inside, userId, before);
}

/** Tells that somebody was invited, for the first time or again. Who was removed is a new user once more, and what they were is told. */
async function emitInvited(inside: Context, id: string, before: User | null): Promise<void> {
  userLoader(inside).clear(id);
  const record = await getUser(inside, id);
  const changes = before ? changesBetween(before, record, ['status', 'role', 'permissions', 'name', 'email']) : undefined;
  const name = before?.status === 'invited' ? 'user.updated' : 'user.created';
  await inside.emit({ name, record, changes, also: { 'user.invited': ['status'] } });
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
