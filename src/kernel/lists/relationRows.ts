import type { Context } from '../context/context.js';
import { inOrder, type Loader, loaderOf } from '../context/loaders.js';
import { readerOf, type Shape, text } from '../database/kinds.js';
import { accountSql, rawSql, type Sql, sql } from '../database/sql.js';
import { listedSql } from '../database/statement.js';
import { isUuid } from '../model/checks.js';
import { type ListArgs, type Page, selectsOfNodes } from '../model/connection.js';
import { isLedTo, isThere, listedRows, type ToMany, type ToOne } from '../tables/relation.js';
import type { AnyTable } from '../tables/table.js';
import { pageOf, pageRows } from './list.js';
import { isLong, windowOf } from './window.js';

type Row = Record<string, unknown> & { id: string };
type PageRead = Parameters<typeof pageOf>[2];

/** The most rows that one statement may bring: fifty records with fifty each. */
const mostRows = 2500;

/** Parents whose pages are read together. */
function portions(ids: readonly string[], size: number): string[][] {
  const together = Math.max(1, Math.floor(mostRows / size));
  return Array.from({ length: Math.ceil(ids.length / together) }, (_, i) => ids.slice(i * together, (i + 1) * together));
}

/** The rows of a select that finds them by their keys. */
async function rowsOf(ctx: Context, shape: Shape, rows: Sql): Promise<Row[]> {
  const text = await ctx.planned(listedSql(rows));
  const found = (JSON.parse(text) as object[]).map(readerOf<Row>(shape));
  ctx.request.budget?.read(found, text.length);
  return found;
}

/** Records of a table by id, as relations lead to them: null for one that is gone. */
export const recordLoader = (ctx: Context, { to: table, required }: Pick<ToOne, 'to' | 'required'>): Loader<Row | null> =>
  loaderOf(ctx, `${table.name} by id${required ? ', deleted or not' : ''}`, async (ids) => {
    const there = isLedTo({ to: table, required }, accountSql(ctx.caller.account.id), table.options.visible?.(ctx));
    const select = sql`select ${table.columnsWith(ctx)} from ${rawSql(table.name)} t where ${there} and ${table.id} = any(${ids}::uuid[])`;
    return inOrder(ids, await rowsOf(ctx, table.shape as Shape, select), ({ id }) => id);
  });

/** The record of a table that an id names, whatever it is; null where it names none, or none that is there for the caller. */
export const loadRecord = async (ctx: Context, table: AnyTable, id: unknown): Promise<Row | null> =>
  typeof id === 'string' && isUuid(id) ? recordLoader(ctx, { to: table }).load(id.toLowerCase()) : null;

/** A computed field of a record by its id. */
export const computedLoader = (ctx: Context, table: AnyTable, name: string): Loader<unknown> =>
  loaderOf(ctx, `${table.name}.${name}`, async (ids) => {
    const select = sql`select ${table.id} as id, ${table.computedOf(ctx, name)!} as value from ${rawSql(table.name)} t
      where t.account_id = ${ctx.caller.account.id}::uuid and ${table.id} = any(${ids}::uuid[])`;
    const values = new Map((await rowsOf(ctx, {}, select)).map(({ id, value }) => [id, value]));
    return ids.map((id) => values.get(id) ?? null);
  });

/** The parents of a relation with these ids, as `p`. */
const parents = ({ of, column }: ToMany, account: string, ids: readonly string[]): Sql => sql`(
  select ${of.id} as id, ${rawSql(`t.${column}`)} as key from ${rawSql(of.name)} t
  where t.account_id = ${account}::uuid and ${of.id} = any(${ids}::uuid[])) p`;

/** A short list of a record. */
export const loadMany = (ctx: Context, relation: ToMany, id: string): Promise<Row[]> =>
  loaderOf(ctx, `${relation.of.name}.${relation.name}`, async (ids) => {
    const { to, condition } = relation;
    const account = ctx.caller.account.id;
    const which = sql`${isThere(to, accountSql(account), to.options.visible?.(ctx))} and ${condition}`;
    const records = listedRows(relation, to.columnsWith(ctx), which);
    const select = sql`select r.*, p.id as _parent from ${parents(relation, account, ids)} cross join lateral (${records}) r order by p.id, r._nth`;
    const rows = await rowsOf(ctx, { ...(to.shape as Shape), _parent: text }, select);
    const lists = new Map<string, Row[]>(ids.map((key) => [key, []]));
    for (const row of rows) lists.get(row._parent as string)?.push(row);
    return ids.map((key) => lists.get(key)!);
  }).load(id);

/** A page of a relation from a record. Pages of many records with the same arguments are one statement. */
export function loadPage(ctx: Context, relation: ToMany, id: string, args: ListArgs<object, string>): Promise<Page<Row>> {
  const { selection, ...plain } = args;
  const { to, of, name } = relation;
  const withTotal = selection.has('totalCount');
  const computed = Object.keys(to.computed).filter((field) => selectsOfNodes(selection, field));
  const figures = Object.keys(to.options.figures ?? {}).filter((field) => selection.has(field));
  const key = JSON.stringify([of.name, name, plain, withTotal, computed, figures]);
  return loaderOf(ctx, key, async (ids) => {
    const window = await windowOf(ctx, to, plain, { withTotal, within: relation });
    const page = pageRows(ctx, to, window, { columns: to.columnsWith(ctx, computed), figures });
    const found = new Map<string, PageRead>();
    // One after the other, so that a request that has spent its budget reads no more.
    for (const portion of portions(ids, window.size)) {
      const select = sql`select p.id, x.page from ${parents(relation, ctx.caller.account.id, portion)} cross join lateral (${page}) x(page)`;
      const read = () => rowsOf(ctx, {}, select);
      for (const row of await (isLong(window) ? ctx.longRead(read) : read())) {
        found.set(row.id, row.page as PageRead);
        ctx.request.budget?.read((row.page as PageRead).rows);
      }
    }
    return ids.map((parent) => pageOf<Row>(to.shape as Shape, window, found.get(parent) ?? { rows: [], total: 0 }));
  }).load(id);
}
