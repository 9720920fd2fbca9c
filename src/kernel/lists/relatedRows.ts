import { Arg, Int } from 'type-graphql';
import { invalidField } from '../base/errors.js';
import type { Batch, Context } from '../context/context.js';
import { grouped } from '../context/loaders.js';
import { type Shape, text } from '../database/kinds.js';
import { allOf, rawSql, type Sql, sql } from '../database/sql.js';
import { maxPageSize } from '../model/connection.js';

/** The argument of a relation that is a list: how many of its records. */
export const First = () => Arg('first', () => Int, { defaultValue: 50, description: `How many, at most ${maxPageSize}` });

/** The key under which a loader of `relatedRows` knows the first records of a parent. */
export function firstOf(parent: string, first: number): string {
  if (first < 1) throw invalidField('first', 'out_of_range', 'must be at least 1');
  return `${parent}/${Math.min(first, maxPageSize)}`;
}

/** The table of a relation between many and many, and its columns. */
interface Between {
  table: string;
  record: string;
  parent: string;
}

const newestFirst = 't.created_at desc, t.id desc';

/** Whether a row, alias `t`, belongs to the parent, alias `p`. */
const belongs = (parent: string | Between): Sql =>
  typeof parent === 'string'
    ? rawSql(`t.${parent} = p.id`)
    : rawSql(`exists (select 1 from ${parent.table} b
        where b.account_id = t.account_id and b.${parent.record} = t.id and b.${parent.parent} = p.id)`);

/** What a relation from a parent to its records is made of. */
export interface Relation {
  table: string;
  /** The columns of a row, over the alias `t`. */
  columns: Sql;
  row?: Shape;
  /** The column that holds the parent's id, or the table between that holds both ids. */
  parent: string | Between;
  /** The order, over the alias `t`; newest first by default. An index on account and parent should hold it. */
  order?: string;
  /** Which of them count; all by default. */
  live?: Sql | ((ctx: Context) => Sql);
}

/** The most rows that one statement may bring: fifty records with fifty each. */
const mostRows = 2500;

/** Parents whose records are read together, so that no statement brings more than `mostRows`. */
function* portions(parents: readonly (readonly [id: string, size: number])[]) {
  let [portion, rows] = [[] as (readonly [string, number])[], 0];
  for (const parent of parents) {
    if (rows + parent[1] > mostRows && portion.length > 0) {
      yield portion;
      [portion, rows] = [[], 0];
    }
    portion.push(parent);
    rows += parent[1];
  }
  yield portion;
}

/** The first records of each of many parents, in one statement where they are not too many. */
export const relatedRows =
  <Row extends object>({ table, columns, parent, order = newestFirst, live, row = {} }: Relation): Batch<Row[]> =>
  async (ctx, keys) => {
    const parents = keys.map((key) => key.split('/')).map(([id, size]) => [id!, Number(size)] as const);
    const which = typeof live === 'function' ? live(ctx) : (live ?? sql`true`);
    const own = allOf([sql`t.account_id = ${ctx.caller.account.id}::uuid`, belongs(parent), which]);
    const rows: (Row & { _parent: string })[] = [];
    // One after the other, so that a request that has spent its budget reads no more.
    for (const portion of portions(parents)) {
      const [ids, sizes] = [portion.map(([id]) => id), portion.map(([, size]) => size)];
      const found = await ctx.select(
        { ...row, _parent: text },
        sql`
        select r.*, p.id || '/' || p.size as _parent from unnest(${ids}::uuid[], ${sizes}::int[]) p(id, size)
        cross join lateral (
          select ${columns}, row_number() over (order by ${rawSql(order)}) as _nth from ${rawSql(table)} t
          where ${own} order by ${rawSql(order)} limit p.size) r
        order by _parent, r._nth`,
      );
      rows.push(...(found as (Row & { _parent: string })[]));
    }
    return grouped(keys, rows, (found) => found._parent);
  };
