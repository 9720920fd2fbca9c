import { flag, type RowOf, records } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { dealLineTable, dealRow, dealTable } from './deal.table.js';

export { type DealRow, dealRow } from './deal.table.js';

/**
 * Whether the probability of a deal, over the alias `t`, is the one of its stage. Null where the version before this column wrote the
 * deal: it is where the stage says the same.
 */
export const followsStage = sql`coalesce(t.probability_from_stage, t.probability is not distinct from (
  select s.probability from stages s where s.account_id = t.account_id and s.id = t.stage_id))`;

const lines = sql`(
  select coalesce(json_agg(to_jsonb(r) - 'nth' order by r.nth, r.id), '[]') from (select t.account_id, t.id) p cross join lateral (
    select ${dealLineTable.columns}, t.sort_order as nth from deal_products t where t.account_id = p.account_id and t.deal_id = p.id) r)`;

/** Deals with their lines. */
export const wholeDeals = dealTable.reading(
  { ...dealRow.shape, probabilityFromStage: flag, products: records(dealLineTable.shape) },
  sql`${dealTable.columns}, ${followsStage} as "probabilityFromStage", ${lines} as products`,
);
export type WholeDeal = RowOf<typeof wholeDeals.shape>;
