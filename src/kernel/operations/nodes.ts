import { isObjectType } from 'graphql';
import { isAllowed, markOfType } from '../access/access.js';
import type { Context, NodeSource } from '../context/context.js';
import { text, uuid } from '../database/kinds.js';
import { joinSql, type Sql, sql } from '../database/sql.js';
import { isUuid } from '../model/checks.js';
import { asNode } from '../model/node.js';

type Find = (source: NodeSource, ids: readonly string[]) => Sql;

/** Of which type each of these ids is, in one statement. Of two types that have one, the module that comes first names it. */
async function typesOf(ctx: Context, sources: [string, NodeSource][], ids: readonly string[], find: Find): Promise<Map<string, string>> {
  if (ids.length === 0 || sources.length === 0) return new Map();
  const parts = sources.map(([type, source]) => sql`select ${type}::text as type, n.id from (${find(source, ids)}) n`);
  const rows = await ctx.select({ type: text, id: uuid }, joinSql(parts, ' union all '));
  return new Map(rows.reverse().map(({ id, type }) => [id, type]));
}

/** The types whose records the caller may read. */
function readable(ctx: Context): [string, NodeSource][] {
  const { nodes, schema } = ctx.app.registry;
  return [...nodes].filter(([name]) => {
    const type = schema().getType(name);
    return isObjectType(type) && isAllowed(ctx, markOfType(schema(), type));
  });
}

/** Records by their ids, whatever they are; null for what the caller cannot find, or may not read, and for what is no id. */
export async function nodesById(ctx: Context, given: readonly string[]): Promise<(object | null)[]> {
  const ids = given.map((id) => (isUuid(id) ? id.toLowerCase() : ''));
  const sources = readable(ctx);
  const types = await typesOf(ctx, sources, [...new Set(ids.filter(Boolean))], (source, wanted) => source.find(ctx, wanted));
  const found = new Map<string, object>();
  await Promise.all(
    sources.map(async ([type, { load }]) => {
      const own = [...types].flatMap(([id, its]) => (its === type ? [id] : []));
      const records = own.length > 0 ? Array.from(await load(ctx, own)) : [];
      for (const [i, record] of records.entries()) if (record && !(record instanceof Error)) found.set(own[i]!, asNode(type, record));
    }),
  );
  return ids.map((id) => found.get(id) ?? null);
}

/** Those of the ids that a record of the account has or had, whatever it is. */
export async function takenIds(ctx: Context, ids: readonly string[]): Promise<Set<string>> {
  const account = ctx.caller.account.id;
  const types = await typesOf(ctx, [...ctx.app.registry.nodes], ids, (source, wanted) => source.all(account, wanted));
  return new Set(types.keys());
}
