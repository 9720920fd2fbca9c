import { type RowOf, records } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { dealLineTable, dealRow, dealTable } from './deal.table.js';

export { type DealRow, dealRow } from './deal.table.js';

/** A deal with its lines. */
export const wholeDealRow = { ...dealRow.shape, products: records(dealLineTable.shape) };
export type WholeDeal = RowOf<typeof wholeDealRow>;

/** The columns of a deal's row with its lines, over the alias `t`. */
export const wholeDeal = sql`${dealTable.columns}, (
  select coalesce(json_agg(to_jsonb(r) - 'nth' order by r.nth, r.id), '[]') from (select t.account_id, t.id) p cross join lateral (
    select ${dealLineTable.columns}, t.sort_order as nth from deal_products t where t.account_id = p.account_id and t.deal_id = p.id) r) as products`;
