import { sql } from '../../kernel/database/sql.js';
import { daysBefore, type Sweep } from '../../kernel/database/sweep.js';
import { oldRunsOf } from '../actions/action.sweeps.js';

const runs = { table: 'automation_runs', parent: 'automation_id', isOver: sql`r.status not in ('running', 'waiting')` };

/**
 * Runs that ended as long ago as the server is told to keep them, each with its steps; the contract sets them no end. They are taken until
 * those before have led to `most` rows and more: one may have thousands of steps. By account, because the index begins with it.
 */
export const oldRuns: Sweep = {
  rows: (slots) => sql`with old as (
      select r.account_id, r.id, sum(r.steps + 1) over (order by r.account_id, r.id) - r.steps - 1 as before
      from accounts a cross join lateral (${oldRunsOf(runs, sql`r.account_id, r.id, r.steps`, slots)}) r
      limit ${slots.most}
    ), chosen as (select account_id, id from old where before < ${slots.most}
    ), steps as (
      delete from automation_step_logs s using chosen c where s.account_id = c.account_id and s.run_id = c.id returning 1
    ), runs as (
      delete from automation_runs r using chosen c where r.account_id = c.account_id and r.id = c.id returning 1
    )
    select from steps union all select from runs`,
  before: daysBefore(({ keepRunsDays }) => keepRunsDays),
};
