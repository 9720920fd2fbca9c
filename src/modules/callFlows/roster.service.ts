import { found } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import { listOf, nullable, type RowOf, text, uuid, word } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesBetween, isNothing } from '../../kernel/events/changes.js';
import { findRow, listRows } from '../../kernel/lists/list.js';
import { toE164 } from '../../kernel/model/checks.js';
import type { Page } from '../../kernel/model/connection.js';
import { getUser } from '../users/user.service.js';
import { userTable } from '../users/user.table.js';
import type { Presence, RosterList, SetPresenceInput } from './roster.model.js';
import { presence, rosterTable } from './roster.table.js';

export type RosterRow = RowOf<typeof rosterTable.shape> & { id: string; did: string | null };

/** The phone of a member in E.164 form; null where they have none that can be called. */
const didOf = (ctx: Context, phone: string | null): string | null => (phone && toE164(phone, ctx.caller.account.defaultCountry)) || null;

/** Contract GET /call-flows/roster: the active members; who has no phone is listed, and cannot be placed. */
export async function listRoster(ctx: Context, args: RosterList): Promise<Page<RosterRow>> {
  const page = await listRows<RosterRow>(ctx, rosterTable, args);
  for (const row of page.nodes) row.did = didOf(ctx, row.did);
  return page;
}

const member = { userId: uuid, name: text, phone: nullable(text), presence: word<keyof typeof Presence>() };

const membersOf = statement({
  name: 'callMembers',
  takes: { ids: listOf(uuid) },
  row: member,
  text: ({ account, ids }) => sql`
    select t.user_id as "userId", t.name, t.phone, ${presence} as presence from memberships t
    where t.account_id = ${account} and t.user_id = any(${ids}) and t.status = 'active'`,
});

/** Somebody whom a flow may ring. */
export interface Agent {
  userId: string;
  name: string;
  /** Their phone in E.164 form; null where they have none that the flow can ring. */
  did: string | null;
  presence: keyof typeof Presence;
}

/** An active member as it is kept. */
export type CallMember = RowOf<typeof member>;

/**
 * Members as those whom a flow rings, by their ids. Whose phone is the flow's own number has none that it can ring: the call would
 * come in again, and ring them again.
 */
export function agentsById(ctx: Context, members: readonly CallMember[], ownNumber: string | null): Map<string, Agent> {
  const agentOf = ({ phone, ...rest }: CallMember): Agent => {
    const did = didOf(ctx, phone);
    return { ...rest, did: did === ownNumber ? null : did };
  };
  return new Map(members.map((member) => [member.userId, agentOf(member)]));
}

/** Of some users those who are active members, by their ids, as a flow with this number rings them. */
export const agentsOf = async (ctx: Context, ids: readonly string[], ownNumber: string | null): Promise<Map<string, Agent>> =>
  agentsById(ctx, ids.length > 0 ? await ctx.rows(membersOf, { ids }) : [], ownNumber);

// Locked as it is read: of two calls at once, the second is compared with what the first one wrote.
const holdMember = statement({
  name: 'holdCallMember',
  takes: { user: uuid },
  row: { presence: word<keyof typeof Presence>(), phone: nullable(text) },
  locks: true,
  text: ({ account, user }) => sql`
    select t.presence, t.phone from memberships t
    where t.account_id = ${account} and t.user_id = ${user} and ${userTable.found} for no key update`,
});

/** PUT /call-flows/presence: whether the caller is rung from now on, and on which phone. What is not given stays. */
export async function setPresence(ctx: Context, { presence: said, phone }: SetPresenceInput): Promise<RosterRow> {
  const userId = ctx.person;
  const before = found((await ctx.rows(holdMember, { user: userId }))[0], 'User');
  const given = defined({ presence: said ?? undefined, phone });
  const changes = changesBetween(before, { ...before, ...given }, ['presence', 'phone']);
  if (!isNothing(changes)) {
    await ctx.db.membership.updateMany({ where: { userId }, data: given });
    // Who may see users sees no phone of them: that is for who may see the roster.
    const { presence } = changes;
    await ctx.emit({ name: 'user.updated', record: await getUser(ctx, userId), changes: presence && { presence }, logged: false });
  }
  const row = found(await findRow<RosterRow>(ctx, rosterTable, userId), 'User');
  return { ...row, did: didOf(ctx, row.did) };
}
