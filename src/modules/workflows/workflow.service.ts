import { check, invalidField, unprocessable } from '../../kernel/base/errors.js';
import { defined } from '../../kernel/base/objects.js';
import type { Context } from '../../kernel/context/context.js';
import type { Use } from '../../kernel/context/registry.js';
import { emptyRow, jsonText, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { findRow, getRow, listRows, listRowsOf } from '../../kernel/lists/list.js';
import { matcherOf } from '../../kernel/matching/matcher.js';
import { refuseUntold } from '../../kernel/matching/untold.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { deleted } from '../../kernel/model/removal.js';
import { activeLimit } from '../../kernel/operations/activeLimit.js';
import { beginsBehind } from '../../kernel/operations/feedEnd.js';
import { rowsToChange } from '../../kernel/operations/rowsToChange.js';
import { checkActions, holdTemplates, sendsEmail } from '../actions/action.service.js';
import { checkMayName, isTrigger } from '../actions/action.trigger.js';
import { checkMayMail } from '../auth/auth.verification.js';
import { checkTrial } from '../plans/plan.limits.js';
import { cancelDeliveries, signingSecretOf } from '../webhooks/webhook.queue.js';
import { endRuns } from './run.end.js';
import type { WorkflowRunList } from './run.model.js';
import { type RunRow, runTable } from './run.table.js';
import {
  type CreateWorkflowInput,
  type UpdateWorkflowInput,
  type WorkflowAction,
  WorkflowFields,
  type WorkflowList,
  type WorkflowTrigger,
} from './workflow.model.js';
import { type WorkflowRow, workflowTable } from './workflow.table.js';

/** Contract GET /workflows: newest first. */
export const listWorkflows = (ctx: Context, args: WorkflowList) => listRows<WorkflowRow>(ctx, workflowTable, args);

/** One workflow, or null. */
export const findWorkflow = (ctx: Context, id: string) => findRow<WorkflowRow>(ctx, workflowTable, id);

/** Contract GET /workflows/{id}: one workflow, or 404. */
export const getWorkflow = (ctx: Context, id: string) => getRow<WorkflowRow>(ctx, workflowTable, id);

/** GET /workflows/{id}/signing-secret: for whoever checks what its actions send; 404. */
export async function signingSecret(ctx: Context, id: string) {
  const workflow = await getWorkflow(ctx, id);
  return { secret: signingSecretOf(ctx, { kind: 'workflow', id: workflow.id }) };
}

/** Contract GET /workflows/{id}/runs: newest first; 404 for the workflow. */
export async function listRunsOf(ctx: Context, id: string, args: WorkflowRunList) {
  const workflow = await getWorkflow(ctx, id);
  return listRowsOf<RunRow>(ctx, runTable, args, { workflowId: workflow.id });
}

const workflowRows = rowsToChange(workflowTable);
const workflowForChange = (ctx: Context, id: string) => ctx.forChange(workflowRows, id);

/**
 * Throws 400 naming what is wrong with a trigger: an event that nothing tells or that is of runs, conditions over what its record does
 * not have; 403 for an event that is for others than the caller, unless it is the one that the workflow waits for already.
 */
function checkTrigger(ctx: Context, trigger: WorkflowTrigger | null | undefined, known?: string | null): WorkflowTrigger | null {
  if (!trigger) return null;
  const { events } = ctx.app.registry;
  const names = [...events.keys()].filter((name) => isTrigger(ctx, name));
  check(isTrigger(ctx, trigger.event), () =>
    invalidField('trigger.event', 'not_allowed', `must be the name of an event: ${names.join(', ')}`),
  );
  if (trigger.event !== known) checkMayName(ctx, trigger.event);
  matcherOf(ctx, events.get(trigger.event)!.of.type, trigger.conditions, 'trigger.conditions');
  return { event: trigger.event, conditions: trigger.conditions ?? null };
}

/** Throws 400 where conditions ask for a change that no event tells, unless the workflow has these conditions already. */
function checkTold(ctx: Context, trigger: WorkflowTrigger | null, before: WorkflowTrigger | null): void {
  const conditions = trigger?.conditions ?? null;
  if (!trigger || !changesBetween({ conditions: before?.conditions }, { conditions }, ['conditions']).conditions) return;
  refuseUntold(ctx, ctx.app.registry.events.get(trigger.event)!.of.type, conditions, 'trigger.conditions');
}

const checkedActions = async (ctx: Context, actions: readonly WorkflowAction[]): Promise<WorkflowAction[]> =>
  (await checkActions(
    ctx,
    actions.map(({ type, config }, i) => ({ type, config: config ?? {}, at: `actions.${i}` })),
  )) as WorkflowAction[];

const blank = {
  ...emptyRow(workflowTable.shape),
  isActive: false,
  status: 'inactive',
  activatedAfter: '0',
  activatedUnplaced: [] as string[],
  actions: [] as WorkflowAction[],
} as const;

/** Contract POST /workflows: inactive, whatever isActive says. 400 naming what is wrong with the trigger or an action. */
export async function createWorkflow(ctx: Context, { isActive: _, ...input }: CreateWorkflowInput): Promise<WorkflowRow> {
  const trigger = checkTrigger(ctx, input.trigger);
  checkTold(ctx, trigger, null);
  const actions = await checkedActions(ctx, input.actions ?? []);
  checkTrial(ctx);
  const { runCount: _count, lastRunAt: _last, ...none } = { ...blank, runCount: 0 };
  const own = { ...none, ...defined(input), trigger, triggerEvent: trigger?.event ?? null, actions, createdBy: ctx.caller.userId };
  const made = ctx.insert('Workflow', own);
  const workflow: WorkflowRow = { ...made, runCount: 0, lastRunAt: null };
  await ctx.emit({ name: 'workflow.created', record: workflow });
  return workflow;
}

const statusOf = (isActive: boolean) => (isActive ? ('active' as const) : ('inactive' as const));

const tracked = [...namesOf(WorkflowFields), 'isActive', 'status'];

/** Contract PATCH /workflows/{id}: of runs that are under way nothing changes. `isActive` does as activating and deactivating do. */
export async function updateWorkflow(ctx: Context, id: string, { isActive, ...input }: UpdateWorkflowInput): Promise<WorkflowRow> {
  ctx.lockRows();
  const before = await workflowForChange(ctx, id);
  const trigger = input.trigger === undefined ? undefined : checkTrigger(ctx, input.trigger, before.triggerEvent);
  if (trigger) checkTold(ctx, trigger, before.trigger);
  const given = {
    ...defined(input),
    ...(trigger !== undefined && { trigger }),
    ...(input.actions !== undefined && { actions: await checkedActions(ctx, input.actions ?? []) }),
  };
  const wanted: WorkflowRow = { ...before, ...given };
  return (isActive ?? before.isActive) ? keepActive(ctx, before, wanted) : keep(ctx, before, { ...wanted, isActive: false });
}

/** Contract POST /workflows/{id}/activate: from here on matching events start runs. 422 without a trigger. */
export async function activateWorkflow(ctx: Context, id: string): Promise<WorkflowRow> {
  ctx.lockRows();
  const before = await workflowForChange(ctx, id);
  return before.isActive ? before : keepActive(ctx, before, before);
}

/** Contract POST /workflows/{id}/deactivate: no event starts a run any more; runs that are under way go on. */
export async function deactivateWorkflow(ctx: Context, id: string): Promise<WorkflowRow> {
  ctx.lockRows();
  const before = await workflowForChange(ctx, id);
  return keep(ctx, before, { ...before, isActive: false });
}

const checkActive = activeLimit('workflows', { field: 'isActive', active: sql`is_active and deleted_at is null` });

/** Keeps a workflow that is, or becomes, active: what it needs is there. */
async function keepActive(ctx: Context, before: WorkflowRow, wanted: WorkflowRow): Promise<WorkflowRow> {
  const begins = !before.isActive;
  if (sendsEmail(wanted.actions)) await checkMayMail(ctx);
  if (begins) {
    // What the workflow names may have been deleted after it was written.
    checkTrigger(ctx, wanted.trigger);
    await checkedActions(ctx, wanted.actions);
    checkTrial(ctx);
  }
  check(wanted.trigger, () => unprocessable('trigger', 'required', 'is required of a workflow that is to be active'));
  // Actions see the event whole, so whoever may not see it does not say what they do. What begins was checked by checkTrigger.
  if (!begins && changesBetween(before, wanted, ['actions']).actions) checkMayName(ctx, wanted.trigger.event);
  if (begins) {
    await checkActive(ctx);
    await ctx.follow('workflows');
  }
  holdTemplates(ctx, wanted.actions);
  const start = begins ? { activatedAt: ctx.now() } : {};
  // What happened before it waited for its event starts nothing, however late that is read.
  const isOther = begins || wanted.trigger.event !== before.triggerEvent;
  const after = isOther ? await beginsBehind(ctx, [wanted.trigger.event], 'activated') : {};
  return keep(ctx, before, { ...wanted, ...start, ...after, isActive: true });
}

async function keep(ctx: Context, before: WorkflowRow, given: WorkflowRow): Promise<WorkflowRow> {
  const { name, description, trigger, actions, isActive, activatedAt, activatedAfter, activatedUnplaced } = given;
  const start = { activatedAt, activatedAfter, activatedUnplaced: [...activatedUnplaced] };
  const values = { name, description, trigger, actions, isActive, ...start, status: statusOf(isActive) };
  const wanted: WorkflowRow = { ...before, ...values, triggerEvent: trigger?.event ?? null };
  const changes: Changes = changesBetween(before, wanted, tracked);
  if (isNothing(changes)) return before;
  const saved = ctx.update('Workflow', before, { ...values, triggerEvent: wanted.triggerEvent });
  const also = changes.isActive ? { [saved.isActive ? 'workflow.activated' : 'workflow.deactivated']: ['isActive', 'status'] } : {};
  await ctx.emit({ name: 'workflow.updated', record: saved, changes, also });
  return saved;
}

/** Contract DELETE /workflows/{id}: whether it is active or not. Its runs end, and what waits to be sent of it is cancelled. */
export async function deleteWorkflow(ctx: Context, id: string) {
  ctx.lockRows();
  const before = await workflowForChange(ctx, id);
  const workflow: WorkflowRow = ctx.update('Workflow', before, { deletedAt: ctx.now(), isActive: false, status: 'inactive' });
  await endRuns(ctx, workflow.id);
  await cancelDeliveries(ctx, workflow.id);
  await ctx.emit({ name: 'workflow.deleted', record: workflow });
  return deleted('Workflow', workflow.id);
}

const needing = statement({
  name: 'workflowsNeeding',
  takes: { named: jsonText },
  row: { id: uuid, name: text },
  text: ({ account, named }) => sql`
    select w.id, w.name from workflows w where w.account_id = ${account} and w.deleted_at is null and (
      w.is_active and w.actions @> ${named}::jsonb
      or exists (select 1 from workflow_runs r where r.account_id = w.account_id and r.workflow_id = w.id and r.status = 'running'
        and r.actions @> ${named}::jsonb))
    order by w.name, w.id limit 20`,
});

/** What needs a record that actions name under a member: active workflows, and those of whose runs one is under way. */
export const usesAs =
  (...members: string[]) =>
  async (ctx: Context, id: string): Promise<Use[]> => {
    const all = await Promise.all(members.map((member) => ctx.rows(needing, { named: JSON.stringify([{ config: { [member]: id } }]) })));
    const found = new Map(all.flat().map((workflow) => [workflow.id, workflow.name]));
    return [...found].map(([workflow, name]) => ({ type: 'workflow', id: workflow, name }));
  };
