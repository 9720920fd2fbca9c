import type { Context } from '../../kernel/context/context.js';
import { bigint, integer, listOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import type { FeedEnd, ReadEvent } from '../../kernel/events/readers.js';
import { contactsOf } from '../actions/action.contact.js';
import { contactAfterEvent } from '../actions/action.service.js';
import { type Begun, begunBy, isTrigger } from '../actions/action.trigger.js';
import { keptInstead } from '../contacts/contact.merged.js';
import type { Plan } from './automation.graph.js';
import { planOfVersion } from './automation.publish.js';
import { whoIsIn } from './run.enroll.js';
import { startRun } from './run.start.js';
import { endWaits, waitedFor } from './run.waits.js';

// They are held, so that whoever starts runs of one automation comes after the other. Their versions are read once they are: of one that
// is published again meanwhile this has the new one, which a join would not find, as it sees what was there when it began.
const live = statement({
  name: 'automationsOfEvents',
  takes: { events: listOf(text) },
  row: { id: uuid, name: text, event: text, after: bigint, unplaced: listOf(uuid), version: integer },
  locks: true,
  text: ({ account, events }) => sql`
    select a.id, a.name, a.live_event as event, a.live_after as after, a.live_unplaced as unplaced, a.published_version as version
    from automations a where a.account_id = ${account} and a.live_event = any(${events}) and a.deleted_at is null order by a.id for no key update of a`,
});

/** The automations that events of some names start. */
async function startedBy(ctx: Context, events: string[]): Promise<Automation[]> {
  const automations = await ctx.rows(live, { events });
  return Promise.all(
    automations.map(async (each) => {
      const plan = await planOfVersion(ctx, each.id, each.version);
      return { ...each, plan, conditions: plan.conditions };
    }),
  );
}

type Automation = FeedEnd & { id: string; name: string; event: string; version: number; plan: Plan; conditions: unknown };

type ContactOf = (event: FeedEvent) => string | null;

/** Whether the contacts of events are in a run of an automation, and whom an event is about now: who was merged is who is kept. */
async function peopleOf(ctx: Context, automation: string, events: readonly FeedEvent[], contactOf: ContactOf) {
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
async function startRuns(ctx: Context, automation: Automation, meant: readonly Begun<Automation>[], contactOf: ContactOf): Promise<void> {
  const { found, now } = await peopleOf(
    ctx,
    automation.id,
    meant.map(({ event }) => event),
    contactOf,
  );
  for (const { event, evaluation } of meant) {
    const contact = now(event);
    const isHere = contact !== null && found.has(contact);
    // Of a contact who is gone nothing begins; what is about something else does, for nobody.
    if (isHere ? found.get(contact) : contact !== null && event.type === 'Contact') continue;
    if (isHere) found.set(contact, true);
    const { name, type, data, changes, entityType, entityId, eventId, causes } = event;
    const run = await startRun(ctx, {
      automation,
      version: automation.version,
      startNodeId: automation.plan.startNodeId,
      contactId: isHere ? contact : null,
      eventId,
      entityType,
      entityId,
      causes,
      triggerEvent: name,
      conditions: evaluation.conditions,
      triggerData: { event: name, type, createdAt: event.createdAt.toISOString(), data, changes },
    });
    // One that ended at once leaves the contact free.
    if (isHere && run.status === 'failed') found.set(contact, false);
  }
}

/** The events of an account that start runs, or end their waits. */
export const wanted = (account: Sql): Sql => sql`
  select live_event from automations where account_id = ${account} and live_event is not null and deleted_at is null
  union all ${waitedFor(account)}`;

/** Starts runs, and ends their waits. What waits for something of a record is told that it is deleted. Answers how many it has read. */
export async function readEvents(ctx: Context, all: readonly ReadEvent[]): Promise<number> {
  const isOne = ({ name }: FeedEvent) => isTrigger(ctx, name);
  if (!all.some(isOne)) return all.length;
  const automations = await startedBy(ctx, [...new Set(all.filter(isOne).map(({ name }) => name))]);
  const { begun: meant, seen } = await begunBy(ctx, all, automations, { at: 'triggerConditions' });
  await endWaits(ctx, all.slice(0, seen).filter(isOne));
  const contactIn = await contactsOf(
    ctx,
    meant.map(({ event }) => event),
  );
  const contactOf: ContactOf = (event) => contactAfterEvent(event.name, contactIn(event));
  for (const automation of automations) {
    const its = meant.filter((each) => each.starter === automation);
    if (its.length > 0) await startRuns(ctx, automation, its, contactOf);
  }
  return seen;
}
