import { sql } from '../../kernel/database/sql.js';
import { daysBefore, type Sweep } from '../../kernel/database/sweep.js';

/**
 * Runs that ended as long ago as the server is told to keep them; the contract sets them no end. The latest one of each workflow stays,
 * because it says when that ran last, and one whose webhook is still on its way. By account, because the index begins with it. Whether
 * one was retried meanwhile is checked again where it is deleted.
 */
export const oldRuns: Sweep = {
  rows: ({ before, most }) => sql`with old as (
      select r.account_id, r.id from accounts a cross join lateral (
        select r.account_id, r.id from workflow_runs r
        where r.account_id = a.id and r.started_at < ${before} and r.completed_at < ${before} and r.status <> 'running'
          and exists (select from workflow_runs later where later.account_id = r.account_id and later.workflow_id = r.workflow_id
            and (later.started_at, later.id) > (r.started_at, r.id))
          and not exists (select from webhook_deliveries d
            where d.account_id = r.account_id and d.source_id = r.workflow_id and d.due_at is not null and d.run_id = r.id)
        order by r.started_at, r.id limit ${most}) r
      limit ${most})
    delete from workflow_runs r using old where r.account_id = old.account_id and r.id = old.id and r.status <> 'running' returning 1`,
  before: daysBefore(({ keepRunsDays }) => keepRunsDays),
};
