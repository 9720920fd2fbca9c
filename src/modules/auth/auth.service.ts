import { check, denied, found, invalidField, unauthenticated } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { plans } from '../plans/plan.limits.js';
import { isPasswordOf } from './auth.guesses.js';
import { forgetCallers } from './auth.identify.js';
import { type AuthResult, type CurrentUser, done, type LoginInput, type RegisterInput, type SwitchAccountInput } from './auth.model.js';
import { hashPassword } from './auth.secrets.js';
import { displayName, enter, findUser, openSession, placesOf } from './auth.session.js';

const dayLength = 24 * 60 * 60 * 1000;

/** Contract POST /auth/register: a new account, its owner, and a session. */
export async function register(ctx: Context, input: RegisterInput): Promise<AuthResult> {
  check([...input.accountName].length >= 2, () => invalidField('accountName', 'too_short', 'must be at least 2 characters'));
  const passwordHash = await hashPassword(input.password);
  check(!(await findUser(ctx, input.email)), () => invalidField('email', 'taken', 'is registered already'));
  const { email, firstName, lastName } = input;
  const plan = ctx.app.config.defaultPlan;
  const days = plans[plan]?.days;
  return ctx.transaction(async (inside) => {
    const account = await inside.global.account.create({
      data: {
        name: input.accountName,
        plan,
        billingStatus: days ? 'trialing' : 'active',
        trialEndsAt: days ? new Date(inside.now().getTime() + days * dayLength) : null,
      },
    });
    const user = await inside.global.user.create({ data: { email, firstName, lastName, passwordHash } });
    const name = displayName(user);
    const member = await inside.global.membership.create({ data: { accountId: account.id, userId: user.id, role: 'owner', name } });
    return openSession(inside, user, { role: member.role, account }, [{ role: member.role, account }]);
  });
}

/** Whether the password that was proved still is the person's, to the end of this transaction: a change waits for it, or came before. */
async function holdPassword(inside: Context, { id, passwordHash }: { id: string; passwordHash: string | null }): Promise<boolean> {
  const held = await inside.global.user.updateMany({ where: { id, passwordHash }, data: { passwordHash } });
  return held.count === 1;
}

/**
 * Contract POST /auth/login. 401 in the same words and time whether or not the address is known; 429 after too many wrong
 * passwords for one address, whatever this one is.
 */
export async function login(ctx: Context, { email, password, accountId }: LoginInput): Promise<AuthResult> {
  const user = await findUser(ctx, email);
  const wrong = () => unauthenticated('The e-mail address or the password is wrong');
  const matches = await isPasswordOf(ctx, email, user, password);
  check(user && matches, wrong);
  const places = await placesOf(ctx, user.id);
  const place = accountId ? places.find(({ account }) => account.id === accountId) : places[0];
  if (!place) throw unauthenticated('The person is no active member of the account');
  return ctx.transaction(async (inside) => {
    check(await holdPassword(inside, user), wrong);
    return enter(inside, user, place, places);
  });
}

/** Contract POST /auth/switch-account: 403 where the person is no active member; the old session ends. */
export async function switchAccount(ctx: Context, { accountId }: SwitchAccountInput): Promise<AuthResult> {
  const { caller } = ctx;
  const user = found(await ctx.global.user.findUnique({ where: { id: caller.userId } }), 'User');
  const places = await placesOf(ctx, user.id);
  const place = places.find(({ account }) => account.id === accountId);
  check(place, () => denied('The person is no active member of that account'));
  await ctx.global.session.update({ where: { id: caller.id }, data: { revokedAt: ctx.now() } });
  forgetCallers(ctx.app);
  return openSession(ctx, user, place, places);
}

/** Contract POST /auth/logout: the session ends here and in every other process. */
export async function logout(ctx: Context) {
  const { caller } = ctx;
  if (caller.kind === 'session') {
    await ctx.global.session.update({ where: { id: caller.id }, data: { revokedAt: ctx.now() } });
    ctx.request.session = null;
    forgetCallers(ctx.app);
  }
  return done;
}

/** Contract GET /auth/me. */
export async function me(ctx: Context): Promise<CurrentUser> {
  const { caller } = ctx;
  const user = found(await ctx.global.user.findUnique({ where: { id: caller.userId } }), 'User');
  const memberCount = await ctx.db.membership.count({ where: { status: 'active' } });
  const { id, name, plan } = caller.account;
  return { user: { id: user.id, name: caller.userName, email: user.email, role: caller.role }, workspace: { id, name, plan, memberCount } };
}
