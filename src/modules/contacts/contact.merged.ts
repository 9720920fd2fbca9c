import type { Context } from '../../kernel/context/context.js';
import { listOf, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

/** As a named query: each of some contacts who was merged, with every contact on the way to the one that is kept, numbered by `step`. */
export const mergedOf = (account: Sql, ids: Sql): Sql => sql`merged (id, kept, step) as (
  select c.id, c.merged_into_id, 1 from contacts c
  where c.account_id = ${account} and c.id = any(${ids}) and c.merged_into_id is not null
  union all
  select m.id, c.merged_into_id, m.step + 1 from merged m join contacts c on c.account_id = ${account} and c.id = m.kept
  where c.merged_into_id is not null and m.step < 100)`;

const merges = statement({
  name: 'contactsKeptInstead',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, kept: uuid },
  text: ({ account, ids }) => sql`
    with recursive ${mergedOf(account, ids)}
    select distinct on (id) id, kept from merged order by id, step desc`,
});

/** Who is kept instead of each of some contacts, of those that were merged into others. */
export async function keptInstead(ctx: Context, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  return new Map((await ctx.rows(merges, { ids })).map(({ id, kept }) => [id, kept]));
}
