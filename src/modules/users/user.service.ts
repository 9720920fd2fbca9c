import { check, denied, found } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { listRows } from '../../kernel/lists/list.js';
import { deleted } from '../../kernel/model/removal.js';
import { loader } from '../../kernel/operations/loader.js';
import { lockBefore } from '../../kernel/operations/lockBefore.js';
import { rowsByIds } from '../../kernel/operations/rowsByIds.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { callersChanged } from '../auth/auth.identify.js';
import { permissionsOf } from '../auth/auth.member.model.js';
import { endInvitations } from '../auth/auth.tokens.js';
import type { UpdateUserInput, User, UserList } from './user.model.js';
import { userTable } from './user.table.js';

export const listUsers = (ctx: Context, args: UserList) => listRows<User>(ctx, userTable, args);

/** Members by id, for many keys in one statement. A removed one keeps the name under which it wrote. */
export const userLoader = loader<User | null>(rowsByIds(userTable));

/** One member; a removed one is not found. */
export async function getUser(ctx: Context, id: string): Promise<User> {
  const user = await userLoader(ctx).load(validId(id, 'User'));
  return found(user?.status === 'removed' ? null : user, 'User');
}

const userRows = rowsToChange(userTable);

/** Contract PATCH /users/{id}: only the owner changes the owner, and not the rights; nobody promotes themselves. */
export async function updateUser(ctx: Context, id: string, { role, name, permissions }: UpdateUserInput): Promise<User> {
  const user = await ctx.forChange(userRows, id);
  check(user.role !== 'owner' || user.id === ctx.caller.userId, () => denied('Only the owner may change the owner'));
  const given = { ...(role && { role }), ...(name && { name }), ...(permissions && { permissions: permissionsOf(permissions) }) };
  const changes = changesBetween(user, { ...user, ...given }, ['role', 'name', 'permissions']);
  const right = changes.role ? 'role' : changes.permissions && 'permissions';
  check(!right || user.role !== 'owner', () => denied(`The owner's ${right} cannot be changed`));
  check(!right || user.id !== ctx.caller.userId, () => denied(`You cannot change your own ${right}`));
  if (isNothing(changes)) return user;
  await ctx.db.membership.updateMany({ where: { userId: user.id }, data: { role, name, permissions } });
  userLoader(ctx).clear(user.id);
  const saved = await getUser(ctx, user.id);
  await ctx.emit({ name: 'user.updated', record: saved, changes });
  callersChanged(ctx);
  return saved;
}

/**
 * Contract DELETE /users/{id}: 403 for the owner and oneself; what they were assigned to is unassigned in the same step, each by its own
 * module, which hears that they are gone. An invitation ends with its links, also one whose mail has yet to go.
 */
export async function removeUser(ctx: Context, id: string) {
  // Before the place is locked, as whoever accepts does: in another order they would wait for each other.
  await endInvitations(ctx, validId(id, 'User'));
  await lockBefore(ctx, 'user', id);
  const user = await ctx.forChange(userRows, id);
  check(user.role !== 'owner', () => denied('The owner cannot be removed'));
  check(user.id !== ctx.caller.userId, () => denied('You cannot remove yourself'));
  await ctx.db.membership.updateMany({ where: { userId: user.id }, data: { status: 'removed', removedAt: ctx.now(), presence: 'off' } });
  await ctx.db.session.updateMany({ where: { userId: user.id, revokedAt: null }, data: { revokedAt: ctx.now() } });
  const removed: User = { ...user, status: 'removed' };
  const changes = changesBetween(user, removed, ['status']);
  await ctx.emit({ name: 'user.deleted', record: removed, changes, also: { 'user.removed': ['status'] } });
  callersChanged(ctx);
  return deleted('User', user.id);
}
