import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { bigint, flag, integer, json, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import type { ReadEvent } from '../../kernel/events/readers.js';
import { aboutWhom, type Led, leadsOf, ledTo } from '../actions/action.contact.js';
import { type Begun, begunBy, isLoop, isTrigger } from '../actions/action.trigger.js';
import { keptInstead } from '../contacts/contact.merged.js';
import { emitRun, pending } from './run.service.js';
import type { RunRow } from './run.table.js';
import type { WorkflowAction, WorkflowTrigger } from './workflow.model.js';

const active = {
  id: uuid,
  name: text,
  trigger: json<WorkflowTrigger>(),
  after: bigint,
  unplaced: listOf(uuid),
  size: integer,
  actions: nullable(json<WorkflowAction[]>()),
};
/** An active workflow, with the bytes of its actions: where they are many, they are read once it begins a run. */
type Active = RowOf<typeof active>;
/** So many bytes of actions are not many. */
const fewBytes = 20_000;

/** The events that active workflows of an account wait for. */
export const wanted = (account: Sql): Sql => sql`
  select trigger_event from workflows where account_id = ${account} and is_active and deleted_at is null`;

const starting = { workflows: json<Active[]>(), led: json<Led[]>() };

// The workflows are held, so that who deletes one or deactivates it comes before its runs are made, or finds them.
const started = statement({
  name: 'workflowsStartedBy',
  takes: { events: listOf(text), leads: listOf(uuid) },
  row: starting,
  locks: true,
  text: ({ account, events, leads }) => sql`
    select (select coalesce(json_agg(a), '[]') from (
      select w.id, w.name, w.trigger, w.activated_after as after, w.activated_unplaced as unplaced, s.size,
        case when s.size <= ${fewBytes}::int then w.actions end as actions
      from workflows w cross join lateral (select octet_length(w.actions::text) as size) s
      where w.account_id = ${account} and w.trigger_event = any(${events}) and w.is_active and w.deleted_at is null
      order by w.created_at, w.id for share of w) a) as workflows,
    (select coalesce(json_agg(l), '[]') from (${ledTo(account, leads)}) l) as led`,
});

// Held until the runs are made: a merge that comes before is found by `whoIsNow`, and a later one finds the runs. A contact that was
// deleted for good meanwhile is no contact of a run.
const contactsOfRuns = statement({
  name: 'contactsToRunFor',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, isMerged: flag },
  locks: true,
  text: ({ account, ids }) => sql`
    select c.id, c.merged_into_id is not null as "isMerged" from contacts c
    where c.account_id = ${account} and c.id = any(${ids}) order by c.id for key share of c`,
});

/** Who each of some contacts is now: of one who was merged the one who is kept. All of them are held. */
async function whoIsNow(ctx: Context, ids: readonly string[]): Promise<Map<string, string>> {
  const contacts = ids.length > 0 ? await ctx.rows(contactsOfRuns, { ids }) : [];
  const now = new Map(contacts.map(({ id }) => [id, id]));
  const kept = await keptInstead(
    ctx,
    contacts.filter(({ isMerged }) => isMerged).map(({ id }) => id),
  );
  if (kept.size === 0) return now;
  // They may be merged themselves until they are held.
  const further = await whoIsNow(ctx, [...new Set(kept.values())]);
  for (const [id, instead] of kept) now.set(id, further.get(instead) ?? id);
  return now;
}

const actionsOf = statement({
  name: 'actionsOfWorkflows',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, actions: json<WorkflowAction[]>() },
  text: ({ account, ids }) => sql`select w.id, w.actions from workflows w where w.account_id = ${account} and w.id = any(${ids})`,
});

async function largeActions(ctx: Context, begun: readonly Begun<Active>[]): Promise<ReadonlyMap<string, WorkflowAction[]>> {
  const ids = [...new Set(begun.flatMap(({ starter }) => (starter.actions ? [] : [starter.id])))];
  const read = ids.length > 0 ? await ctx.rows(actionsOf, { ids }) : [];
  return new Map(read.map(({ id, actions }) => [id, actions]));
}

/** Makes a run of each event and each active workflow that waits for it and whose conditions hold. */
export async function startRuns(ctx: Context, told: readonly ReadEvent[]): Promise<number> {
  const events = told.filter(({ name }) => isTrigger(ctx, name));
  if (events.length === 0) return told.length;
  const names = [...new Set(events.map(({ name }) => name))];
  const [{ workflows, led }] = (await ctx.rows(started, { events: names, leads: leadsOf(events) })) as [RowOf<typeof starting>];
  const waiting = workflows.map(({ trigger, ...workflow }) => ({
    ...workflow,
    trigger,
    event: trigger.event,
    conditions: trigger.conditions,
  }));
  // The actions stand in the run and in what is told of it.
  const { begun, seen } = await begunBy(ctx, told, waiting, { at: 'trigger.conditions', bytesOf: ({ size }) => 2 * size });
  if (begun.length === 0) return seen;
  const contactFor = aboutWhom(led);
  const now = await whoIsNow(ctx, [...new Set(begun.flatMap(({ event }) => contactFor(event) ?? []))]);
  const large = await largeActions(ctx, begun);
  for (const each of begun)
    await begin(
      ctx,
      { ...each, actions: each.starter.actions ?? large.get(each.starter.id)! },
      contactOfRun(each.event, contactFor(each.event), now),
    );
  ctx.wake('workflowRuns');
  return seen;
}

type Beginning = Begun<Active> & { actions: readonly WorkflowAction[] };

/** The contact of the run that an event begins; of the end of a contact it is the one who is gone. */
function contactOfRun({ name }: FeedEvent, contact: string | null, now: ReadonlyMap<string, string>): string | null {
  const present = now.get(contact ?? '') ?? null;
  return present && name === 'contact.deleted' ? contact : present;
}

async function begin(ctx: Context, { event, starter: workflow, evaluation, actions }: Beginning, contactId: string | null): Promise<void> {
  const now = ctx.now();
  const loops = isLoop(event.causes, { kind: 'workflow', id: workflow.id });
  const skippedAll = actions.map((action) => ({ ...pending(action), status: 'skipped' as const, executedAt: now.toISOString() }));
  const run: RunRow = ctx.insert('WorkflowRun', {
    workflowId: workflow.id,
    workflowName: workflow.name,
    eventId: event.eventId,
    triggerEvent: event.name,
    triggerData: event.data,
    entityType: event.type,
    changes: event.changes,
    eventAt: event.createdAt,
    contactId,
    conditions: evaluation.conditions,
    causes: event.causes,
    startedAt: now,
    nextAction: 0,
    tries: 0,
    attempt: 0,
    ...(loops
      ? { status: 'failed' as const, error: 'loop', actions: skippedAll, completedAt: now, durationMs: 0, dueAt: null }
      : {
          status: 'running' as const,
          error: null,
          actions: actions.map(pending),
          completedAt: null,
          durationMs: null,
          dueAt: now,
        }),
  });
  const { id, name } = workflow;
  const actor = { kind: 'workflow', id, name } as const;
  const chain: Cause[] = [...event.causes, { kind: 'workflow', id, runId: run.id }];
  await emitRun(ctx.within(chain, actor), 'created', run);
}
