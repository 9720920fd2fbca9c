import { sql } from '../../kernel/database/sql.js';
import { daysBefore, type Sweep } from '../../kernel/database/sweep.js';
import { oldRunsOf } from '../actions/action.sweeps.js';

const runs = { table: 'workflow_runs', parent: 'workflow_id', isOver: sql`r.status <> 'running'` };

/**
 * Runs that ended as long ago as the server is told to keep them; the contract sets them no end. By account, because the index begins with
 * it. Whether one was retried meanwhile is checked again where it is deleted.
 */
export const oldRuns: Sweep = {
  rows: (slots) => sql`with old as (
      select r.account_id, r.id from accounts a cross join lateral (${oldRunsOf(runs, sql`r.account_id, r.id`, slots)}) r
      limit ${slots.most})
    delete from workflow_runs r using old where r.account_id = old.account_id and r.id = old.id and ${runs.isOver} returning 1`,
  before: daysBefore(({ keepRunsDays }) => keepRunsDays),
};
