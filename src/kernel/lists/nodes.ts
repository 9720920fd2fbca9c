import { isObjectType } from 'graphql';
import { markOfType, mayUse } from '../access/access.js';
import type { Context, NodeSource } from '../context/context.js';
import { readerOf, uuid } from '../database/kinds.js';
import { joinSql, rawSql, sql } from '../database/sql.js';
import { listedSql } from '../database/statement.js';
import { isUuid } from '../model/checks.js';
import { asNode } from '../model/node.js';
import type { AnyTable } from '../tables/table.js';

/** The records of a table by their ids, as a read of one finds them and no others. */
export const nodeSourceOf = (table: AnyTable): NodeSource => ({
  rows: (ctx, ids) => {
    const where = table.readable(ctx, sql`${ctx.caller.account.id}::uuid`, sql`${table.id} = any(${ids})`);
    return sql`select ${table.columnsWith(ctx)} from ${rawSql(table.name)} t where ${where}`;
  },
  shape: table.shape,
  has: (account, id) => sql`select 1 from ${rawSql(table.name)} t where t.account_id = ${account}::uuid and ${table.id} = ${id}`,
});

/** Whether a record is there for the caller to find, of a type whose records are found by their ids; others are taken to be. */
export async function recordExists(ctx: Context, type: string, id: string): Promise<boolean> {
  const source = ctx.app.registry.nodes.get(type);
  if (!source) return true;
  const found = await ctx.select({ id: uuid }, sql`select n.id from (${source.rows(ctx, sql`${[id]}::uuid[]`)}) n`);
  return found.length > 0;
}

/** The types whose records the caller may read. */
export function readableNodes({ app: { registry }, caller }: Context): [type: string, NodeSource][] {
  const schema = registry.schema();
  return [...registry.nodes].filter(([name]) => {
    const type = schema.getType(name);
    return isObjectType(type) && mayUse(caller, markOfType(schema, type));
  });
}

/**
 * Records by their ids, whatever they are, in one statement; null for what is no id, and for what the caller cannot find or may
 * not read.
 */
export async function nodesById(ctx: Context, given: readonly string[]): Promise<(object | null)[]> {
  const ids = given.map((id) => (isUuid(id) ? id.toLowerCase() : null));
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const sources = readableNodes(ctx);
  if (wanted.length === 0 || sources.length === 0) return given.map(() => null);
  const which = sql`(select w.ids from wanted w)::uuid[]`;
  const parts = sources.map(([type, { rows }]) => sql`select ${type}::text as type, row_to_json(n) as row from (${rows(ctx, which)}) n`);
  const text = await ctx.planned(sql`with wanted as (select ${wanted}::uuid[] as ids) ${listedSql(joinSql(parts, ' union all '))}`);
  const rows = JSON.parse(text) as { type: string; row: { id: string } }[];
  ctx.request.budget?.read(rows, text.length);
  const read = new Map(sources.map(([type, { shape }]) => [type, readerOf<object>(shape)]));
  const found = new Map(rows.map(({ type, row }) => [row.id, asNode(type, read.get(type)!(row))]));
  return ids.map((id) => (id === null ? null : (found.get(id) ?? null)));
}
