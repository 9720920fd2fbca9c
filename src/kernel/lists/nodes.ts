import type { Context, NodeSource } from '../context/context.js';
import { inOrder } from '../context/loaders.js';
import { allOf, rawSql, sql } from '../database/sql.js';
import type { AnyTable } from './window.js';

/** How the records of a table are read by their ids: as a read of one finds them, and no others. */
export function nodeOf(table: AnyTable): NodeSource {
  const from = rawSql(table.name);
  const have = (account: string, ids: readonly string[]) => sql`t.account_id = ${account}::uuid and ${table.id} = any(${ids}::uuid[])`;
  const found = (ctx: Context, ids: readonly string[]) => {
    const visible = table.options.visible?.(ctx);
    return allOf([have(ctx.caller.account.id, ids), table.found, ...(visible ? [visible] : [])]);
  };
  return {
    find: (ctx, ids) => sql`select ${table.id} as id from ${from} t where ${found(ctx, ids)}`,
    all: (account, ids) => sql`select ${table.id} as id from ${from} t where ${have(account, ids)}`,
    load: async (ctx, ids) => {
      const rows = await ctx.select(table.shape, sql`select ${table.columnsWith(ctx)} from ${from} t where ${found(ctx, ids)}`);
      return inOrder(ids, rows as { id: string }[], ({ id }) => id);
    },
  };
}
