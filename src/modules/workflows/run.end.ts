import type { Context } from '../../kernel/context/context.js';
import { instant, jsonText, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { emitRun } from './run.service.js';
import { runTable, wholeRuns } from './run.table.js';

const ending = statement({
  name: 'endWorkflowRuns',
  takes: { workflow: uuid, error: text, now: instant, skipped: jsonText },
  row: runTable.shape,
  changes: true,
  text: ({ account, workflow, error, now, skipped }) => sql`
    update workflow_runs t set status = 'failed', error = ${error}, completed_at = ${now}, updated_at = ${now}, due_at = null,
      leased_until = null, duration_ms = greatest(extract(epoch from ${now} - t.started_at) * 1000, 0), actions = (
        select coalesce(jsonb_agg(case when a.value ->> 'status' = 'pending' then a.value || ${skipped}::jsonb else a.value end
          order by a.nth), '[]') from jsonb_array_elements(t.actions) with ordinality a(value, nth))
    where t.account_id = ${account} and t.workflow_id = ${workflow} and t.status = 'running' returning ${wholeRuns.columns}`,
});

/** Ends the runs of a workflow that is deleted: what they have not done is left out. */
export async function endRuns(ctx: Context, workflow: string): Promise<void> {
  const now = ctx.now();
  const skipped = JSON.stringify({ status: 'skipped', executedAt: now.toISOString() });
  const ended = await ctx.rows(ending, { workflow, error: 'workflow_deleted', now, skipped });
  await Promise.all(
    ended.map((run) =>
      emitRun(ctx, 'updated', run, { status: { from: 'running', to: 'failed' }, error: { from: null, to: 'workflow_deleted' } }),
    ),
  );
}
