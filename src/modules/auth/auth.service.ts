import { check, found, unauthenticated } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import type { Changes } from '../../kernel/events/changes.js';
import { inFinalTransaction } from '../../kernel/operations/detached.js';
import { isPasswordOf } from './auth.guesses.js';
import { callersChanged } from './auth.identify.js';
import type { Workspace } from './auth.member.model.js';
import { type AuthResult, done, type LoginInput, type SwitchAccountInput, type Viewer } from './auth.model.js';
import { changePlace, endSession, enter, findUser, holdPassword, placesOf, userOf, workspaceOf } from './auth.session.js';

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
  return inFinalTransaction(ctx, async (inside) => {
    // Who was read before the password was hashed may have turned a second factor on since.
    const held = await holdPassword(inside, user);
    check(held, wrong);
    return enter(inside, held, place, places);
  });
}

/**
 * Contract POST /auth/switch-account: 401 where the session has just ended, 403 where the person is no active member; the old session ends.
 */
export async function switchAccount(ctx: Context, { accountId }: SwitchAccountInput): Promise<AuthResult> {
  const entered = await changePlace(ctx, accountId);
  callersChanged(ctx);
  return entered;
}

/** Contract POST /auth/logout: the session ends here and in every other process. */
export async function logout(ctx: Context) {
  if (ctx.caller.kind === 'session') {
    await endSession(ctx);
    ctx.request.session = null;
    callersChanged(ctx);
  }
  return done;
}

/** Contract GET /auth/me. */
export async function me(ctx: Context): Promise<Viewer> {
  const { account, permissions = [], owesMfa = false } = ctx.caller;
  const member = found(await ctx.db.membership.findFirst({ where: { userId: ctx.person }, include: { user: true } }), 'User');
  return { user: userOf(member.user, member), workspace: workspaceOf(account), permissions, mfaSetupRequired: owesMfa };
}

/** How many active members a workspace has. */
export const countMembers = (ctx: Context, accountId: string) => ctx.global.membership.count({ where: { accountId, status: 'active' } });

/** The caller's workspace as it is now; null where the id is another's. */
export async function findWorkspace(ctx: Context, id: string): Promise<Workspace | null> {
  const own = id === ctx.caller.account.id ? await ctx.global.account.findUnique({ where: { id } }) : null;
  return own && workspaceOf(own);
}

/** Tells what changed of the caller's workspace, in this unit of work. */
export async function tellWorkspace(inside: Context, changes: Changes): Promise<void> {
  const { id } = inside.caller.account;
  const record = { ...found(await findWorkspace(inside, id), 'Workspace'), memberCount: await countMembers(inside, id) };
  await inside.emit({ name: 'workspace.updated', record, changes });
}
