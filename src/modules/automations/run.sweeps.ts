import { sql } from '../../kernel/database/sql.js';
import { daysBefore, type Sweep } from '../../kernel/database/sweep.js';

/**
 * Runs that ended as long ago as the server is told to keep them, each with its steps; the contract sets them no end. The latest one of
 * each automation stays, because it says when that was triggered last, and one whose webhook is still on its way. Runs are taken until
 * those before have led to `most` rows and more: one may have thousands of steps. By account, because the index begins with it.
 */
export const oldRuns: Sweep = {
  rows: ({ before, most }) => sql`with old as (
      select r.account_id, r.id, sum(r.steps + 1) over (order by r.account_id, r.id) - r.steps - 1 as before from accounts a cross join lateral (
        select r.account_id, r.id, r.steps from automation_runs r
        where r.account_id = a.id and r.started_at < ${before} and r.completed_at < ${before}
          and r.status not in ('running', 'waiting')
          and exists (select from automation_runs later where later.account_id = r.account_id and later.automation_id = r.automation_id
            and (later.started_at, later.id) > (r.started_at, r.id))
          and not exists (select from webhook_deliveries d
            where d.account_id = r.account_id and d.source_id = r.automation_id and d.due_at is not null and d.run_id = r.id)
        order by r.started_at, r.id limit ${most}) r
      limit ${most}
    ), chosen as (select account_id, id from old where before < ${most}
    ), steps as (
      delete from automation_step_logs s using chosen c where s.account_id = c.account_id and s.run_id = c.id returning 1
    ), runs as (
      delete from automation_runs r using chosen c where r.account_id = c.account_id and r.id = c.id returning 1
    )
    select from steps union all select from runs`,
  before: daysBefore(({ keepRunsDays }) => keepRunsDays),
};
