import { found } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { records, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { shapeOf } from '../../kernel/tables/modelRow.js';
import { AutomationAnalytics, AutomationNodeStats } from './run.model.js';

const analytics = statement({
  name: 'automationAnalytics',
  takes: { id: uuid },
  row: shapeOf(AutomationAnalytics),
  text: ({ account, id }) => sql`
    select r.*, round(r."successCount"::numeric / greatest(r."successCount" + r."failureCount", 1), 4)::float8 as "successRate",
      round(r."failureCount"::numeric / greatest(r."successCount" + r."failureCount", 1), 4)::float8 as "failureRate"
    from automations a cross join lateral (
      select count(*)::int as "triggerCount", count(*) filter (where r.status = 'success')::int as "successCount",
        count(*) filter (where r.status = 'failed')::int as "failureCount",
        (avg(r.duration_ms) filter (where r.status = 'success'))::float8 as "avgDurationMs"
      from automation_runs r where r.account_id = a.account_id and r.automation_id = a.id) r
    where a.account_id = ${account} and a.id = ${id} and a.deleted_at is null`,
});

/** Contract GET /automations/{id}/analytics, in one statement, which counts every run there was: a long read. Rates of nothing are 0. */
export async function automationAnalytics(ctx: Context, id: string): Promise<AutomationAnalytics> {
  const asked = { id: validId(id, 'Automation') };
  const [row] = await ctx.longRead(() => ctx.rows(analytics, asked));
  return found(row, 'Automation');
}

const nodeStats = statement({
  name: 'automationNodeStats',
  takes: { id: uuid },
  row: { nodes: records(shapeOf(AutomationNodeStats)) },
  text: ({ account, id }) => sql`
    select coalesce((select json_agg(n order by n."nodeId") from (
      select s.node_id as "nodeId", count(*)::int as entered, count(*) filter (where s.status = 'completed')::int as completed,
        count(*) filter (where s.status = 'failed')::int as failed, count(*) filter (where s.status = 'waiting')::int as waiting
      from automation_step_logs s where s.account_id = a.account_id and s.automation_id = a.id group by s.node_id
      order by count(*) desc, 1 limit 1000) n), '[]') as nodes
    from automations a where a.account_id = ${account} and a.id = ${id} and a.deleted_at is null`,
});

/** Contract GET /automations/{id}/node-stats, in one statement, a long read: the nodes that runs came to, of every version. */
export async function automationNodeStats(ctx: Context, id: string): Promise<AutomationNodeStats[]> {
  const asked = { id: validId(id, 'Automation') };
  const [row] = await ctx.longRead(() => ctx.rows(nodeStats, asked));
  return found(row, 'Automation').nodes;
}
