import type { Context, FeedReader } from '../../kernel/context/context.js';
import { bigint, instant, integer, json, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import { actsFor, contactOf as contactIn } from '../actions/action.service.js';
import { evaluationOf, isTrigger } from '../actions/action.trigger.js';
import type { Plan } from './automation.graph.js';
import { planOfVersion } from './automation.publish.js';
import { waitOf } from './automation.wait.js';
import { keptInstead, whoIsIn } from './run.enroll.js';
import { startRun } from './run.start.js';

// They are held, so that whoever starts runs of one automation comes after the other.
const live = statement({
  name: 'automationsOfEvents',
  takes: { events: listOf(text) },
  row: { id: uuid, name: text, event: text, after: bigint, version: integer, plan: json<Plan>() },
  locks: true,
  text: ({ account, events }) => sql`
    select a.id, a.name, a.live_event as event, a.live_after as after, v.version, v.graph as plan
    from automations a join automation_versions v on v.account_id = a.account_id and v.automation_id = a.id and v.version = a.published_version
    where a.account_id = ${account} and a.live_event = any(${events}) and a.deleted_at is null order by a.id for no key update of a`,
});

const beginning = { since: nullable(instant), after: nullable(text) };

const waiting = statement({
  name: 'runsWaitingForEvents',
  takes: { events: listOf(text), contacts: listOf(uuid) },
  row: { id: uuid, automationId: uuid, version: integer, nodeId: text, event: text, contactId: uuid, ...beginning },
  locks: true,
  text: ({ account, events, contacts }) => sql`
    select r.id, r.automation_id as "automationId", r.version, r.current_node_id as "nodeId", r.wait_event as event,
      r.contact_id as "contactId", r.waiting_since as since, r.waiting_after as after
    from automation_runs r where r.account_id = ${account} and r.wait_event = any(${events}) and r.contact_id = any(${contacts})
      and r.status = 'waiting' order by r.id for update`,
});

/** The contact whom an event is about; none where it is about nobody, or about one who is gone. */
const contactOf = ({ name, type, data }: FeedEvent): string | null => actsFor(name, contactIn(type, data));

type Automation = { id: string; name: string; event: string; after: string; version: number; plan: Plan };

/** Whether the contacts of events are in a run of an automation, and whom an event is about now: who was merged is who is kept. */
async function peopleOf(ctx: Context, automation: string, events: readonly FeedEvent[]) {
  const contacts = [...new Set(events.flatMap((event) => contactOf(event) ?? []))];
  const found = await whoIsIn(ctx, automation, contacts);
  const kept = await keptInstead(
    ctx,
    contacts.filter((id) => !found.has(id)),
  );
  const others = [...new Set(kept.values())].filter((id) => !found.has(id));
  for (const [id, isIn] of await whoIsIn(ctx, automation, others)) found.set(id, isIn);
  const now = (event: FeedEvent) => {
    const contact = contactOf(event);
    return contact && (kept.get(contact) ?? contact);
  };
  return { found, now };
}

/** Starts the runs of one automation: one for each event, and for each contact at a time. */
async function startRuns(ctx: Context, automation: Automation, events: readonly FeedEvent[]): Promise<void> {
  const { conditions } = automation.plan;
  const named = events.filter(({ id, name }) => name === automation.event && BigInt(id) > BigInt(automation.after));
  const seen = named.map((event) => ({ event, ...evaluationOf(ctx, event, conditions, 'triggerConditions') }));
  const meant = seen.filter(({ holds }) => holds);
  const { found, now } = await peopleOf(
    ctx,
    automation.id,
    meant.map(({ event }) => event),
  );
  for (const { event, conditions: saw } of meant) {
    const contact = now(event);
    const isHere = contact !== null && found.has(contact);
    // Of a contact who is gone nothing begins; what is about something else does, for nobody.
    if (isHere ? found.get(contact) : contact !== null && event.type === 'Contact') continue;
    if (isHere) found.set(contact, true);
    const { name, type, data, changes, entityType, entityId, eventId, causes } = event;
    const run = await startRun(ctx, {
      ...{ automation, version: automation.version, startNodeId: automation.plan.startNodeId, contactId: isHere ? contact : null },
      ...{ eventId, entityType, entityId, causes, triggerEvent: name },
      conditions: saw,
      triggerData: { event: name, type, createdAt: event.createdAt.toISOString(), data, changes },
    });
    // One that ended at once leaves the contact free.
    if (isHere && run.status === 'failed') found.set(contact, false);
  }
}

/**
 * Whether an event came after a wait began, and of something else than the run itself, which did nothing since. Of waits that began
 * before the end of the feed was kept with them the time tells.
 */
const isAfter = ({ id, createdAt, causes }: FeedEvent, run: RowOf<typeof beginning> & { id: string }): boolean =>
  causes.at(-1)?.runId !== run.id && (run.after === null ? createdAt >= run.since! : BigInt(id) > BigInt(run.after));

/** Ends the waits of runs that waited for one of the events. */
async function endWaits(ctx: Context, events: readonly FeedEvent[]): Promise<void> {
  const contacts = [...new Set(events.flatMap((event) => contactOf(event) ?? []))];
  if (contacts.length === 0) return;
  const runs = await ctx.rows(waiting, { events: [...new Set(events.map(({ name }) => name))], contacts });
  // Many of them wait at the same place: each version is read once.
  const plans = new Map<string, Plan>();
  for (const run of runs) {
    const version = `${run.automationId} ${run.version}`;
    const plan = plans.get(version) ?? (await planOfVersion(ctx, run.automationId, run.version));
    plans.set(version, plan);
    const wait = waitOf(plan.nodes.find(({ id }) => id === run.nodeId)?.config ?? {});
    const conditions = wait && 'event' in wait ? wait.conditions : null;
    const arrived = events.find(
      (event) =>
        event.name === run.event &&
        contactOf(event) === run.contactId &&
        isAfter(event, run) &&
        evaluationOf(ctx, event, conditions, 'config.conditions').holds,
    );
    if (!arrived) continue;
    const state = { arrived: { event: arrived.name, eventId: arrived.eventId } };
    ctx.update('AutomationRun', { id: run.id }, { state, waitEvent: null, dueAt: ctx.now() });
    ctx.wake('automationRuns');
  }
}

/** Reads the feed of an account: starts runs, and ends their waits. */
export const automationReader: FeedReader = {
  actor: { kind: 'automation', id: null, name: 'Automations' },
  wanted: (account) => sql`
    select live_event from automations where account_id = ${account} and live_event is not null and deleted_at is null
    union select wait_event from automation_runs where account_id = ${account} and wait_event is not null`,
  async make(ctx, all) {
    const events = all.filter(({ name }) => isTrigger(ctx, name));
    if (events.length === 0) return;
    await endWaits(ctx, events);
    const automations = await ctx.rows(live, { events: [...new Set(events.map(({ name }) => name))] });
    for (const automation of automations) await startRuns(ctx, automation, events);
  },
};
