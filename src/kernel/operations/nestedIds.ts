import { check, taken } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { uuid } from '../database/kinds.js';
import { joinSql, sql } from '../database/sql.js';

/**
 * Throws 409 where a client chose an id twice for records within another, as members of the list of this name, or one that a record of the
 * account has. It names the member, which the write cannot tell from the id of the record itself: that is still what makes sure.
 */
export async function checkNestedIds(ctx: Context, list: string, records: readonly { id?: string | null }[]): Promise<void> {
  const ids = records.map(({ id }) => id);
  const chosen = ids.filter((id) => typeof id === 'string');
  if (chosen.length === 0) return;
  const refuse = (at: number) => check(at < 0, () => taken(`${list}.${at}.id`));
  refuse(ids.findIndex((id, i) => id && ids.indexOf(id) < i));
  const { registry } = ctx.app;
  const holders = [...registry.nodes.values()].map(({ has }) => sql`exists (${has(ctx.caller.account.id, sql`i.id`)})`);
  const held = await ctx.select({ id: uuid }, sql`select i.id from unnest(${chosen}::uuid[]) i(id) where ${joinSql(holders, ' or ')}`);
  const known = new Set<unknown>(held.map(({ id }) => id));
  refuse(ids.findIndex((id) => known.has(id)));
}
