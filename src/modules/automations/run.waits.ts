import type { Context } from '../../kernel/context/context.js';
import { instant, integer, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import { isBehind } from '../../kernel/events/readers.js';
import { contactsOf } from '../actions/action.contact.js';
import { contactAfterEvent } from '../actions/action.service.js';
import { evaluator } from '../actions/action.trigger.js';
import { mergedOf } from '../contacts/contact.merged.js';
import type { Plan } from './automation.graph.js';
import { planOfVersion } from './automation.publish.js';
import { waitOf } from './automation.wait.js';
import { failWaits } from './run.end.js';
import type { RunState } from './run.table.js';
import { ofNew, wayOf } from './run.ways.js';

type ContactOf = (event: FeedEvent) => string | null;

/** The contacts whom events are about, as runs are that they start; none where one is about nobody, or about one who is gone. */
async function contactOfEach(ctx: Context, events: readonly FeedEvent[]): Promise<ContactOf> {
  const contactIn = await contactsOf(ctx, events);
  return (event) => contactAfterEvent(event.name, contactIn(event));
}

const beginning = { since: nullable(instant), after: nullable(text), unplaced: listOf(uuid) };
const waitingRun = {
  id: uuid,
  automationId: uuid,
  version: integer,
  nodeId: text,
  event: text,
  people: listOf(uuid),
  ...beginning,
  triggerEvent: nullable(text),
  entityId: nullable(uuid),
  contactId: nullable(uuid),
  until: nullable(instant),
};
type Waiting = RowOf<typeof waitingRun>;

// A run that moves to another contact meanwhile is waited for, and is still found by the contact whose it was.
const waiting = statement({
  name: 'runsWaitingForEvents',
  takes: { events: listOf(text), contacts: listOf(uuid), records: listOf(uuid), gone: listOf(uuid), only: nullable(uuid) },
  row: waitingRun,
  locks: true,
  text: ({ account, events, contacts, records, gone, only }) => sql`
    with recursive ${mergedOf(account, contacts)}, people (id, now) as (
      select id, id from unnest(${contacts}) given (id) union select id, kept from merged
    ), meant (id, person) as (
      select r.id, p.id from people p join automation_runs r on r.account_id = ${account} and r.contact_id = p.now
      where r.wait_event = any(${events}) and r.status = 'waiting'
      union all
      select r.id, null from automation_runs r
      where r.account_id = ${account} and r.wait_event = any(${events}) and r.entity_id = any(${records}) and r.status = 'waiting'
      union all
      select r.id, null from automation_runs r
      where r.account_id = ${account} and r.wait_event is not null and r.entity_id = any(${gone}) and r.status = 'waiting'
    ), found as materialized (
      select id, coalesce(array_agg(person) filter (where person is not null), '{}') as people from meant group by id)
    select r.id, r.automation_id as "automationId", r.version, r.current_node_id as "nodeId", r.wait_event as event, f.people,
      r.waiting_since as since, r.waiting_after as after, r.waiting_unplaced as unplaced, r.trigger_event as "triggerEvent", r.entity_id as "entityId", r.contact_id as "contactId",
      r.wait_until as until
    from found f join automation_runs r on r.account_id = ${account} and r.id = f.id
    where (r.wait_event = any(${events}) or r.wait_event is not null and r.entity_id = any(${gone})) and r.status = 'waiting'
      and (${only} is null or r.id = ${only}) order by r.id for update of r`,
});

/**
 * The events that runs of an account wait for, and the deletions that would leave them waiting for ever. Of each name one run is looked
 * for, however many wait for it.
 */
export const waitedFor = (account: Sql): Sql => sql`(
  with recursive waited (name) as (
    (select r.wait_event from automation_runs r where r.account_id = ${account} and r.wait_event is not null order by r.wait_event limit 1)
    union all
    select (select r.wait_event from automation_runs r where r.account_id = ${account} and r.wait_event is not null and r.wait_event > w.name
      order by r.wait_event limit 1)
    from waited w where w.name is not null
  )
  select e.name from waited w cross join lateral (values (w.name), (split_part(w.name, '.', 1) || '.deleted')) e (name)
  where w.name is not null)`;

/** A message that a run has sent is its own doing as it is made and as it goes, and so is what a machine answers to it. */
const ofSending = ['message.created', 'message.sent', 'message.received'];

/** Whether an event tells of a message that has not come to an end: it waits to be tried again, or nobody knows whether it went. */
const isOnItsWay = ({ type, data }: FeedEvent): boolean =>
  type === 'Message' && ['scheduled', 'queued', 'sending'].includes(String(data.status));

/**
 * Whether an event tells what a run itself did: what its steps changed, in its own name, and its mails on their way. What becomes of these
 * later, by the server or by somebody outside, is not its doing: a sequence that goes on or is complete, a mail that is refused, comes back
 * or is opened. What somebody outside reports counts whatever we know of the mail: one may be opened while we wait to try it again.
 */
function isOwn(event: FeedEvent, run: string): boolean {
  const cause = event.causes.at(-1);
  if (cause?.runId !== run || cause.isReport) return false;
  return event.actor.kind === 'automation' || event.names.some((name) => ofSending.includes(name)) || isOnItsWay(event);
}

/**
 * Whether an event came after a wait began, and was not the doing of the run itself. A wait keeps the end of the feed as it began; where an
 * old one has not kept it, the time of the event tells.
 */
function isAfter(event: FeedEvent, { id, since, after, unplaced }: RowOf<typeof beginning> & { id: string }): boolean {
  if (isOwn(event, id)) return false;
  return after === null ? event.createdAt >= since! : isBehind(event, { after, unplaced });
}

/** Whether an event came before the time of a wait was out: which it is must not depend on who looks first. */
const isInTime = ({ createdAt }: FeedEvent, { until }: Waiting): boolean => until === null || createdAt <= until;

/** Whether an event is about what a run is about. */
const concerns = (ctx: Context, event: FeedEvent, run: Waiting, contactOf: ContactOf): boolean =>
  wayOf(ctx, run, event.name) === 'record' ? event.entityId === run.entityId : run.people.includes(contactOf(event) ?? '');

/** What tells that a record is gone to which an event might come. */
export const deletionOf = (event: string): string => `${event.split('.')[0]}.deleted`;

const isDeletion = ({ type, name }: FeedEvent): boolean => type !== 'Contact' && name.endsWith('.deleted');

/** What events mean to runs that wait: which of them one waited for, or that none of them can come any more. */
export async function outcomesOf(ctx: Context, events: readonly FeedEvent[], only: string | null): Promise<Outcome[]> {
  const contactOf = await contactOfEach(ctx, events);
  const contacts = [...new Set(events.flatMap((event) => contactOf(event) ?? []))];
  const records = [...new Set(events.flatMap(({ type, name, entityId }) => (type === 'Contact' || ofNew.test(name) ? [] : [entityId])))];
  if (contacts.length === 0 && records.length === 0) return [];
  const gone = new Set(events.filter(isDeletion).map(({ entityId }) => entityId));
  const runs = await ctx.rows(waiting, { events: [...new Set(events.map(({ name }) => name))], contacts, records, gone: [...gone], only });
  // Many of them wait at the same place: each version is read once.
  const plans = new Map<string, Plan>();
  const evaluate = evaluator(ctx, 'config.conditions');
  const outcomes: Outcome[] = [];
  for (const run of runs) {
    const version = `${run.automationId} ${run.version}`;
    const plan = plans.get(version) ?? (await planOfVersion(ctx, run.automationId, run.version));
    plans.set(version, plan);
    const wait = waitOf(plan.nodes.find(({ id }) => id === run.nodeId)?.config ?? {});
    const conditions = wait && 'event' in wait ? wait.conditions : null;
    const arrived = events.find(
      (event) =>
        event.name === run.event &&
        concerns(ctx, event, run, contactOf) &&
        isAfter(event, run) &&
        isInTime(event, run) &&
        evaluate(event, conditions).holds,
    );
    if (arrived) outcomes.push({ id: run.id, arrived: { event: arrived.name, eventId: arrived.eventId } });
    else if (run.until === null && gone.has(run.entityId ?? '') && wayOf(ctx, run, run.event) === 'record') outcomes.push({ id: run.id });
  }
  return outcomes;
}

/** What became of a run's wait: the event that ended it, or none where it would never end. */
export interface Outcome extends RunState {
  id: string;
}

/** Ends the waits of runs that waited for one of the events, and fails those without an end whose record one of them tells is deleted. */
export async function endWaits(ctx: Context, events: readonly FeedEvent[]): Promise<void> {
  const outcomes = await outcomesOf(ctx, events, null);
  for (const { id, arrived } of outcomes) {
    if (!arrived) continue;
    ctx.update('AutomationRun', { id }, { state: { arrived }, waitEvent: null, dueAt: ctx.now() });
    ctx.wake('automationRuns');
  }
  await failWaits(
    ctx,
    outcomes.filter(({ arrived }) => !arrived).map(({ id }) => id),
  );
}
