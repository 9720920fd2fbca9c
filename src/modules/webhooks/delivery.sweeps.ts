import { sql } from '../../kernel/database/sql.js';
import { daysBefore, type Sweep } from '../../kernel/database/sweep.js';

/**
 * Deliveries that have ended, once they are as old as the server is told to keep them; the contract sets them no end. One that was
 * replayed goes after its replays. By account, because the index begins with it.
 */
export const oldDeliveries: Sweep = {
  rows: ({ before, most }) => sql`with old as (
      select d.account_id, d.id from accounts a cross join lateral (
        select d.account_id, d.id from webhook_deliveries d
        where d.account_id = a.id and d.created_at < ${before} and d.status <> 'pending' and d.leased_until is null
          and not exists (select from webhook_deliveries r where r.account_id = d.account_id and r.replay_of = d.id)
        order by d.created_at, d.id limit ${most}) d
      limit ${most})
    delete from webhook_deliveries d using old where d.account_id = old.account_id and d.id = old.id returning 1`,
  before: daysBefore(({ keepDeliveriesDays }) => keepDeliveriesDays),
};
