import { check, conflict } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { checkParent } from '../../kernel/context/rows.js';
import { uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows } from '../../kernel/lists/list.js';
import { loader } from '../../kernel/operations/loader.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { withoutPeople } from '../actions/action.kinds.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { asSeenBy, outcomeAsSeenBy } from '../events/event.redaction.js';
import type { WorkflowRunAction, WorkflowRunList } from './run.model.js';
import { type RunRow, runTable, wholeRuns } from './run.table.js';

/** Runs of all workflows, newest first. */
export const listRuns = (ctx: Context, args: WorkflowRunList) => listRows<RunRow>(ctx, runTable, args);

/** One run, or null. */
export const findRun = (ctx: Context, id: string) => findRow<RunRow>(ctx, runTable, id);

/** Contract GET /workflows/{id}/runs/{runId}: one run, or 404; of this workflow, where it is named. */
export async function getRun(ctx: Context, id: string, workflowId?: string | null): Promise<RunRow> {
  const run = await getRow<RunRow>(ctx, runTable, id);
  checkParent(runTable.what, run.workflowId, workflowId);
  return run;
}

/** Runs as the caller may see them, for many keys in one statement: with what explains them. */
export const workflowRunLoader = loader<RunRow | null>(async (ctx, ids) => {
  const rows = await ctx.select(
    { ...runTable.shape, seenChanges: runTable.shape.changes, seenConditions: runTable.shape.conditions },
    sql`select ${runTable.columnsWith(ctx)}, ${asSeenBy(ctx, sql`t.changes`, { form: 'record', event: sql`t.trigger_event` })} as "seenChanges",
      ${outcomeAsSeenBy(ctx, sql`t.conditions`, sql`t.trigger_event`)} as "seenConditions"
    from workflow_runs t where t.account_id = ${ctx.caller.account.id}::uuid and t.id = any(${[...ids]}::uuid[])`,
  );
  const runs = rows.map(({ seenChanges, seenConditions, ...run }) => ({ ...run, changes: seenChanges, conditions: seenConditions }));
  return inOrder(ids, runs as RunRow[], ({ id }) => id);
});

export const runRows = rowsToChange(wholeRuns);

const toldOf = (run: RunRow): RunRow => ({
  ...run,
  triggerData: null,
  actions: run.actions.map((action) => ({ ...action, result: withoutPeople(action.result) })),
});

/**
 * Tells of a run, without what it says of people, whose records have events of their own for those who may see them. It is no entry of
 * the log: what its actions do has entries of its own.
 */
export const emitRun = (ctx: Context, event: 'created' | 'updated', run: RunRow, changes?: Changes): Promise<void> => {
  return ctx.emit({
    name: `workflow_run.${event}`,
    record: toldOf(run),
    changes,
    contactId: run.contactId,
    logged: false,
    isToldShort: true,
  });
};

/** Contract POST /contacts/merge: the runs of a contact are those of the one who is kept, and go on with that one. */
export const onContactDeleted = followsContact({
  of: wholeRuns,
  tell: (ctx, run, changes) => emitRun(ctx, 'updated', run, changes),
});

const tracked = ['status', 'actions', 'error', 'completedAt', 'durationMs'];
export const changesOfRun = (before: RunRow, after: RunRow): Changes => changesBetween(toldOf(before), toldOf(after), tracked);

/** An action that is still to be done. */
export const pending = ({ type, config }: Pick<WorkflowRunAction, 'type' | 'config'>): WorkflowRunAction => ({
  type,
  config,
  status: 'pending',
  result: null,
  error: null,
  executedAt: null,
});

// Before the run, as who deletes the workflow and ends its runs does.
const workflowOfRun = statement({
  name: 'workflowOfRun',
  takes: { run: uuid },
  row: { id: uuid },
  locks: true,
  text: ({ account, run }) => sql`
    select w.id from workflows w where w.account_id = ${account} and w.deleted_at is null and w.id = (
      select r.workflow_id from workflow_runs r where r.account_id = ${account} and r.id = ${run}) for share of w`,
});

/** A run that was read for the server itself, as the caller may see it. */
async function asSeen(ctx: Context, run: RunRow): Promise<RunRow> {
  const { triggerData, actions } = runTable.shape;
  const kept = sql`select ${run.triggerEvent}::text as trigger_event, ${JSON.stringify(run.triggerData)}::jsonb as trigger_data,
    ${JSON.stringify(run.actions)}::jsonb as actions`;
  const [seen] = await ctx.select(
    { triggerData, actions },
    sql`select ${runTable.computedOf(ctx, 'triggerData')!} as "triggerData", ${runTable.computedOf(ctx, 'actions')!} as actions
      from (${kept}) t where ${ctx.caller.account.id}::uuid is not null`,
  );
  return { ...run, ...seen };
}

/**
 * POST /workflows/{id}/runs/{runId}/retry: a failed run goes on from the action that failed, as it was when the run started. 409
 * while it has not failed, and where it ended as a loop or its workflow is deleted.
 */
export async function retryRun(ctx: Context, id: string, workflowId?: string | null): Promise<RunRow> {
  ctx.lockRows();
  const [live] = await ctx.rows(workflowOfRun, { run: validId(id, runTable.what) });
  const before = await ctx.forChange(runRows, id);
  checkParent(runTable.what, before.workflowId, workflowId);
  check(before.status === 'failed', () => conflict('status', `is ${before.status}: the run has not failed`));
  check(before.error !== 'loop', () => conflict('error', 'is loop: the run led to itself'));
  check(live, () => conflict('workflowId', 'names a deleted workflow'));
  const actions = before.actions.map((action, i) => (i < before.nextAction ? action : pending(action)));
  const after: RunRow = ctx.update('WorkflowRun', before, {
    actions,
    status: 'running',
    error: null,
    tries: 0,
    dueAt: ctx.now(),
    completedAt: null,
    durationMs: null,
  });
  await emitRun(ctx, 'updated', after, changesOfRun(before, after));
  ctx.wake('workflowRuns');
  return asSeen(ctx, after);
}
