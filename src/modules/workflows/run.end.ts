import type { Context } from '../../kernel/context/context.js';
import { instant, jsonText, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { changesOfRun, emitRun } from './run.service.js';
import { type RunRow, runTable, wholeRuns } from './run.table.js';

const ending = statement({
  name: 'endWorkflowRuns',
  takes: { workflow: uuid, error: text, now: instant, skipped: jsonText },
  row: { ...runTable.shape, wasActions: runTable.shape.actions, wasError: nullable(text) },
  changes: true,
  text: ({ account, workflow, error, now, skipped }) => sql`
    with old as (
      select r.id, r.actions, r.error from workflow_runs r
      where r.account_id = ${account} and r.workflow_id = ${workflow} and r.status = 'running' order by r.id for update)
    update workflow_runs t set status = 'failed', error = ${error}, completed_at = ${now}, updated_at = ${now}, due_at = null,
      leased_until = null, duration_ms = greatest(extract(epoch from ${now} - t.started_at) * 1000, 0), actions = (
        select coalesce(jsonb_agg(case when a.value ->> 'status' = 'pending' then a.value || ${skipped}::jsonb else a.value end
          order by a.nth), '[]') from jsonb_array_elements(t.actions) with ordinality a(value, nth))
    from old where t.account_id = ${account} and t.id = old.id
    returning ${wholeRuns.columns}, old.actions as "wasActions", old.error as "wasError"`,
});

/** Ends the runs of a workflow that is deleted: what they have not done is left out. */
export async function endRuns(ctx: Context, workflow: string): Promise<void> {
  const now = ctx.now();
  const skipped = JSON.stringify({ status: 'skipped', executedAt: now.toISOString() });
  const ended = await ctx.rows(ending, { workflow, error: 'workflow_deleted', now, skipped });
  await Promise.all(
    ended.map(({ wasActions: actions, wasError: error, ...run }) => {
      const before: RunRow = { ...run, status: 'running', actions, error, completedAt: null, durationMs: null };
      return emitRun(ctx, 'updated', run, changesOfRun(before, run));
    }),
  );
}
