import { mayUse } from '../../kernel/access/access.js';
import { found, invalidField } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { checkParent } from '../../kernel/context/rows.js';
import { json, nullable, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type FeedEvent, feedColumns, type StoredEvent, shown } from '../../kernel/events/feedStore.js';
import type { Evaluation } from '../../kernel/matching/matcher.js';
import { runAndRollBack } from '../../kernel/operations/runAndRollBack.js';
import { contactsOf } from '../actions/action.contact.js';
import { actionPerformer, errorText } from '../actions/action.service.js';
import { evaluationOf, isLoop } from '../actions/action.trigger.js';
import { keptInstead } from '../contacts/contact.merged.js';
import { asSeenBy, outcomeAsSeenBy, resultsAsSeenBy } from '../events/event.redaction.js';
import { runTriggerOf, within } from './run.actions.js';
import type { DryRunWorkflowInput, TriggeringEvent, WorkflowDryRun, WorkflowRunExplanation } from './run.explain.model.js';
import type { WorkflowRunAction } from './run.model.js';
import { pending, workflowRunLoader } from './run.service.js';
import { runTable } from './run.table.js';
import type { WorkflowAction } from './workflow.model.js';
import { getWorkflow } from './workflow.service.js';

/** GET /workflows/{id}/runs/{runId}/explain: which event, what the conditions saw, what became of each action, what is next. 404. */
export async function explainRun(ctx: Context, id: string, workflowId?: string | null): Promise<WorkflowRunExplanation> {
  const run = found(await workflowRunLoader(ctx).load(validId(id, runTable.what)), runTable.what);
  checkParent(runTable.what, run.workflowId, workflowId);
  const { status, error, conditions, actions, nextAction, tries, dueAt } = run;
  const next = status === 'running' ? actions[nextAction] : undefined;
  return {
    runId: run.id,
    workflowId: run.workflowId,
    status,
    error,
    conditions,
    actions,
    event: {
      eventId: run.eventId,
      name: run.triggerEvent,
      createdAt: run.eventAt,
      type: run.entityType,
      entityId: (run.triggerData?.id as string | undefined) ?? null,
      changes: run.changes,
      causes: run.causes ?? [],
    },
    next: next ? { index: nextAction, type: next.type, at: dueAt, failedTries: tries } : null,
  };
}

const stored = statement({
  name: 'eventById',
  takes: { id: uuid },
  row: { event: json<StoredEvent>() },
  text: ({ account, id }) => sql`
    select row_to_json(e) as event from (
      select ${feedColumns} from outbox_events e join feed_positions p on p.account_id = e.account_id and p.seq = e.seq
      where e.account_id = ${account} and e.id = ${id} and e.only_for is null) e`,
});

const told = (event: FeedEvent): TriggeringEvent => ({
  eventId: event.eventId,
  name: event.name,
  createdAt: event.createdAt,
  type: event.type,
  entityId: event.entityId,
  changes: event.changes,
  causes: event.causes,
});

/**
 * POST /workflows/{id}/dry-run: what the workflow would do about an event of the last 30 days, with the records as they are now. It is
 * done and taken back: nothing is written, told or sent. 404 for the workflow, 400 for the event.
 */
export async function dryRun(ctx: Context, id: string, { eventId }: DryRunWorkflowInput): Promise<WorkflowDryRun> {
  const workflow = await getWorkflow(ctx, id);
  const [row] = await ctx.rows(stored, { id: eventId });
  const isSeen = (name: string) => name === workflow.trigger?.event || mayUse(ctx.caller, ctx.app.registry.events.get(name)!.access);
  if (!row || !isSeen(row.event.name)) throw invalidField('eventId', 'not_found', 'names no event of this account that is kept');
  const event = shown(ctx.app, row.event);
  const isOther = event.name !== workflow.trigger?.event;
  const evaluation = isOther
    ? { holds: false, conditions: [] }
    : evaluationOf(ctx, event, workflow.trigger!.conditions, 'trigger.conditions');
  const reason = reasonNot(isOther, evaluation.holds, isLoop(event.causes, { kind: 'workflow', id: workflow.id }));
  const actions = reason
    ? workflow.actions.map((action) => ({ ...pending(action), status: 'skipped' as const }))
    : await tried(ctx, { id: workflow.id, name: workflow.name }, workflow.actions, event);
  const seen = await seenBy(ctx, event, evaluation.conditions);
  const results = await resultsAsSeenBy(
    ctx,
    actions.map(({ result }) => result),
    event.name,
  );
  const shownActions = actions.map((action, nth) => ({ ...action, result: results[nth]! }));
  return {
    matches: reason === null,
    reason,
    event: { ...told(event), changes: seen.changes },
    conditions: seen.conditions,
    actions: shownActions,
  };
}

/** What of an event explains a run, as the caller may see it. */
async function seenBy(ctx: Context, { name, changes }: FeedEvent, conditions: Evaluation['conditions']) {
  const event = sql`${name}::text`;
  const given = sql`select ${JSON.stringify(changes)}::jsonb as changes, ${JSON.stringify(conditions)}::jsonb as conditions`;
  const [seen] = await ctx.select(
    { changes: nullable(json<NonNullable<typeof changes>>()), conditions: json<typeof conditions>() },
    sql`select ${asSeenBy(ctx, sql`nullif(g.changes, 'null')`, { form: 'record', event })} as changes, ${outcomeAsSeenBy(ctx, sql`g.conditions`, event)} as conditions
      from (${given}) g where ${ctx.caller.account.id}::uuid is not null`,
  );
  return seen!;
}

const reasonNot = (isOther: boolean, holds: boolean, loops: boolean): WorkflowDryRun['reason'] => {
  if (isOther) return 'another_event';
  if (!holds) return 'conditions';
  return loops ? 'loop' : null;
};

/** What would become of actions: they are done, and taken back. */
async function tried(
  ctx: Context,
  { id, name }: { id: string; name: string },
  given: readonly WorkflowAction[],
  event: FeedEvent,
): Promise<WorkflowRunAction[]> {
  const actions = given.map(pending);
  const contact = (await contactsOf(ctx, [event]))(event);
  const kept = await keptInstead(ctx, contact ? [contact] : []);
  const contactId = contact && (kept.get(contact) ?? contact);
  const { name: triggerEvent, eventId, createdAt: eventAt, type: entityType, data: triggerData, changes = null } = event;
  const trigger = { triggerEvent, eventId, eventAt, entityType, triggerData, changes, contactId };
  const run = { id: ctx.app.clock.id(), workflowId: id, workflowName: name, ...trigger };
  return runAndRollBack(ctx, async (outer) => {
    const perform = actionPerformer(within(outer, run), runTriggerOf(run));
    for (const [index, action] of actions.entries()) {
      try {
        const { status, result } = await perform(action, index);
        actions[index] = { ...action, status, result: { ...result } };
      } catch (error) {
        actions[index] = { ...action, status: 'failed', error: errorText(error) };
        for (let after = index + 1; after < actions.length; after++) actions[after] = { ...actions[after]!, status: 'skipped' };
        break;
      }
    }
    return actions;
  });
}
