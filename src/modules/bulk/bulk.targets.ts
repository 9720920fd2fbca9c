import { check, invalidField, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { uuid } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import { itemsNoted } from '../../kernel/operations/forEachRecord.js';
import { filterableTable, filterSql } from '../../kernel/tables/filterSql.js';
import { findMoments } from '../../kernel/tables/momentsAhead.js';
import { type BulkChosen, sizes } from './bulk.model.js';

/** An id that is given twice is one record. */
export const distinct = (ids: readonly string[]): string[] => [...new Map(ids.map((id) => [id.toLowerCase(), id])).values()];

/** Updates that name the same fields are written together. */
export const changedFields = <T extends object>(update: T): string => Object.keys(update).sort().join();

const matching = (account: string, table: string, condition: Sql) => sql`
    select t.id from ${rawSql(table)} t where t.account_id = ${account}::uuid and t.deleted_at is null and ${condition}
    order by t.id limit ${sizes.edit + 1}::int`;

/**
 * The records that an edit is about: of a filter those that it found at first, where a request under its key has begun with them. 400
 * unless they are named in one way, 422 where a filter finds too many. To find them is a long read.
 */
export async function chosen(ctx: Context, entity: 'contact' | 'deal', { ids, filters }: BulkChosen): Promise<string[]> {
  check(Boolean(ids) !== Boolean(filters), () =>
    invalidField('ids', ids ? 'conflicting' : 'required', ids ? 'cannot be combined with filters' : 'or filters is required'),
  );
  if (ids) return distinct(ids);
  const begunWith = itemsNoted<string>(ctx);
  if (begunWith) return [...begunWith];
  const table = filterableTable(ctx, entity)!;
  await findMoments(ctx, filters);
  const matches = matching(ctx.caller.account.id, table.name, filterSql(ctx, table, filters));
  const rows = await ctx.longRead(() => ctx.select({ id: uuid }, matches));
  check(rows.length <= sizes.edit, () => unprocessable('filters', 'too_many', `must match at most ${sizes.edit} ${entity}s`));
  return rows.map((row) => row.id);
}
