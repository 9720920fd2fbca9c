import type { Context } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { checkParent } from '../../kernel/context/rows.js';
import { sql } from '../../kernel/database/sql.js';
import { findRow, getRow, listRows, listRowsOf } from '../../kernel/lists/list.js';
import { loader } from '../../kernel/operations/loader.js';
import { asSeenBy, outcomeAsSeenBy } from '../events/event.redaction.js';
import { getAutomation } from './automation.service.js';
import type { AutomationRunList, AutomationStepLogList } from './run.model.js';
import { automationRunTable, automationStepLogTable, type RunRow, type StepRow } from './run.table.js';

/** Runs of all automations, newest first. */
export const listRuns = (ctx: Context, args: AutomationRunList) => listRows<RunRow>(ctx, automationRunTable, args);

/** GET /automations/{id}/runs: newest first; 404 for the automation. */
export const listRunsOf = async (ctx: Context, id: string, args: AutomationRunList) =>
  listRowsOf<RunRow>(ctx, automationRunTable, args, { automationId: (await getAutomation(ctx, id)).id });

/** One run, or null. */
export const findRun = (ctx: Context, id: string) => findRow<RunRow>(ctx, automationRunTable, id);

/** Runs as the caller may see them, for many keys in one statement: with what explains them. */
export const automationRunLoader = loader<RunRow | null>(async (ctx, ids) => {
  const { triggerData, conditions } = automationRunTable.shape;
  const event = sql`t.trigger_event`;
  const rows = await ctx.select(
    { ...automationRunTable.shape, seen: triggerData, seenConditions: conditions },
    sql`select ${automationRunTable.columns}, ${asSeenBy(ctx, sql`t.trigger_data`, { form: 'payload', event })} as seen,
      ${outcomeAsSeenBy(ctx, sql`t.conditions`, event)} as "seenConditions"
    from automation_runs t where t.account_id = ${ctx.caller.account.id}::uuid and t.id = any(${[...ids]}::uuid[])`,
  );
  const runs = rows.map(({ seen, seenConditions, ...run }) => ({ ...run, triggerData: seen, conditions: seenConditions }) as RunRow);
  return inOrder(ids, runs, ({ id }) => id);
});

/** One run, or 404: of an automation, where that is said. */
export async function getRun(ctx: Context, id: string, automation?: string): Promise<RunRow> {
  const run = await getRow<RunRow>(ctx, automationRunTable, id);
  checkParent(automationRunTable.what, run.automationId, automation);
  return run;
}

/** Steps of all runs, newest first. */
export const listSteps = (ctx: Context, args: AutomationStepLogList) => listRows<StepRow>(ctx, automationStepLogTable, args);

/** Contract GET /automations/{id}/step-logs: newest first; 404 for the automation. */
export const listStepsOf = async (ctx: Context, id: string, args: AutomationStepLogList) =>
  listRowsOf<StepRow>(ctx, automationStepLogTable, args, { automationId: (await getAutomation(ctx, id)).id });

/** One step, or null. */
export const findStep = (ctx: Context, id: string) => findRow<StepRow>(ctx, automationStepLogTable, id);

/** One step, or 404. */
export const getStep = (ctx: Context, id: string) => getRow<StepRow>(ctx, automationStepLogTable, id);
