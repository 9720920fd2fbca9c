import { flag, type RowOf, records } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { dealLineTable, dealRow, dealTable } from './deal.table.js';

export { type DealRow, dealRow } from './deal.table.js';

/** A deal with its lines. */
export const wholeDealRow = { ...dealRow.shape, probabilityFromStage: flag, products: records(dealLineTable.shape) };
export type WholeDeal = RowOf<typeof wholeDealRow>;

/**
 * Whether the probability of a deal, over the alias `t`, is the one of its stage. Null where the version before this column wrote the
 * deal: it is where the stage says the same.
 */
export const followsStage = sql`coalesce(t.probability_from_stage, t.probability is not distinct from (
  select s.probability from stages s where s.account_id = t.account_id and s.id = t.stage_id))`;

/** The columns of a deal's row with its lines, over the alias `t`. */
export const wholeDeal = sql`${dealTable.columns}, ${followsStage} as "probabilityFromStage", (
  select coalesce(json_agg(to_jsonb(r) - 'nth' order by r.nth, r.id), '[]') from (select t.account_id, t.id) p cross join lateral (
    select ${dealLineTable.columns}, t.sort_order as nth from deal_products t where t.account_id = p.account_id and t.deal_id = p.id) r) as products`;
