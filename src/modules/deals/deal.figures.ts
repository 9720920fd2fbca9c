import type { Context } from '../../kernel/context/context.js';
import { allOf, type Sql, sql } from '../../kernel/database/sql.js';
import { DealStatus } from './deal.model.js';
import { dealTable } from './deal.table.js';

/** How many live deals have each status, and what they are worth together: one JSON object by status, as a select. */
export const figuresByStatus = (account: string): Sql => sql`
  select json_object_agg(s.status, json_build_object('count', coalesce(f.n, 0), 'totalValue', coalesce(f.total, 0)::text))
  from unnest(${Object.keys(DealStatus)}::text[]) s(status) left join (
    select status, count(*) as n, sum(value) as total from deals
    where account_id = ${account}::uuid and deleted_at is null group by 1) f on f.status = s.status`;

/** The deals that the list calls stale with these columns over the alias `t`, those first that have lain longest, as a select. */
export const longestStale = (ctx: Context, columns: Sql, most: number): Sql => sql`
  select ${columns} from deals t
  where t.account_id = ${ctx.caller.account.id}::uuid and t.deleted_at is null and ${allOf(dealTable.conditions(ctx, { stale: 'true' }))}
  order by t.updated_at, t.id limit ${most}::int`;
