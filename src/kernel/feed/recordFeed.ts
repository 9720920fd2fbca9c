import { Arg, Ctx, FieldResolver, ID, ObjectType, Resolver, Root } from 'type-graphql';
import { Access, type AccessMark } from '../access/access.js';
import { check, invalidField, orNull } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { text, uuid } from '../database/kinds.js';
import { sql } from '../database/sql.js';
import { statement } from '../database/statement.js';
import type { FeedEvent } from '../events/feedStore.js';
import { fieldOf, type RecordEvents } from '../events/recordEvents.js';
import { isUuid } from '../model/checks.js';
import { Selected } from '../model/connection.js';
import { asNode, Node } from '../model/node.js';
import { EventFields, ready } from './eventFields.js';
import { AfterArg, BatchesArg, type Choice, chosenNames, FeedOf, KindsArg, NamesArg, ReadyArg, visibleNames, type Wanted } from './feed.js';

type Class = abstract new (...args: never[]) => object;

/** What the typed subscription of a record type is made of. */
interface Declaration {
  /** The record's type. */
  record: () => Class;
  /** The record as it is now; null, or 404, where it is gone. */
  find(ctx: Context, id: string, selection: ReadonlySet<string>): Promise<object | null>;
  /** Fields of the record by which its events can be chosen, with what each argument does. */
  by?: Record<string, string>;
  /** Who may see what happens to the records. */
  access: AccessMark;
  /** Whether who may see a record depends on the person. */
  byPerson?: boolean;
  /** Whether its events start no runs and end no waits: those of runs, which would start themselves. */
  startsNothing?: true;
}

const subscriptionOf = (events: RecordEvents) => `${fieldOf(events)}Events`;

const words = ({ noun }: RecordEvents) => noun.replaceAll('_', ' ');
const withArticle = (noun: string) => `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`;

/** What choosing by name or by kind does where a change is one event. */
const ofChanges = (what: string) => `Only changes of these ${what}, each under the most specific of them that it is`;

/** What is told of a record type, and its typed subscription. */
export interface RecordFeed {
  of: RecordEvents;
  resolver: Class;
  access: AccessMark;
  find: Declaration['find'];
  byPerson?: boolean;
  startsNothing?: true;
}

/**
 * The typed subscription of a record type: `dealEvents(dealId, names, kinds, batches, after, ready)`, one event for each change, with
 * the record as it is by then.
 */
export function recordFeed(events: RecordEvents, { record, find, by = {}, access, byPerson, startsNothing }: Declaration): RecordFeed {
  const field = fieldOf(events);
  const noun = words(events);

  @ObjectType(`${events.type}Event`, { description: `Something that happened to ${withArticle(noun)}` })
  class RecordEvent extends EventFields {}

  @Resolver(() => RecordEvent)
  @Access(access)
  class Feed {
    @FeedOf(() => RecordEvent, {
      name: subscriptionOf(events),
      description: `What happens to records of the type ${events.type}, one event for each change, with each record as it is by then`,
      wanted: wantedOf(events, Object.keys(by), byPerson),
    })
    follow(
      @Root() event: FeedEvent,
      @Arg(`${field}Id`, () => ID, { nullable: true, description: `Only this ${noun}` }) _id?: string,
      @NamesArg(ofChanges('names')) _names?: string[],
      @KindsArg(ofChanges('kinds')) _kinds?: string[],
      @BatchesArg() _batches?: boolean,
      @AfterArg() _after?: string,
      @ReadyArg() _ready?: boolean,
    ) {
      return event;
    }

    @FieldResolver(() => record(), { name: field, nullable: true, description: `The ${noun} as it is now; null when it is deleted` })
    record(@Ctx() ctx: Context, @Root() event: FeedEvent, @Selected() selection: ReadonlySet<string>) {
      return event.name === ready ? null : orNull(find(ctx, event.entityId, selection));
    }

    /** The id of the event under whose name the change is told, so that whoever hears of it by a webhook, too, knows it again. */
    @FieldResolver(() => ID, { description: 'The id of the event of this name, which webhooks carry as theirs' })
    eventId(@Ctx() ctx: Context, @Root() event: FeedEvent) {
      return idOfNamedEvent(ctx, event);
    }

    @RecordField()
    node(@Ctx() ctx: Context, @Root() event: FeedEvent, @Selected() selection: ReadonlySet<string>) {
      return recordOfEvent(ctx, event, selection);
    }
  }

  const { length } = Feed.prototype.follow;
  for (const [nth, [name, description]] of Object.entries(by).entries()) {
    Arg(name, () => ID, { nullable: true, description })(Feed.prototype, 'follow', length + nth);
  }
  return { of: events, resolver: Feed, access, find, byPerson, startsNothing };
}

const ofRecord = 'The record as it is now; null when it is deleted, and of a conversation, which has no id of its own';

/** The field of every event that leads to its record. */
export const RecordField = () => FieldResolver(() => Node, { name: 'record', nullable: true, description: ofRecord });

/** The record that an event is about, as its module finds it. Who sees the event may read it. */
export async function recordOfEvent(ctx: Context, { name, entityId }: FeedEvent, selection: ReadonlySet<string>): Promise<object | null> {
  if (name === ready) return null;
  const { events, nodes } = ctx.app.registry;
  const { of, find } = events.get(name)!;
  if (!nodes.has(of.type)) return null;
  const record = await orNull(find(ctx, entityId, selection));
  return record && asNode(of.type, record);
}

const eventOfChange = statement({
  name: 'eventOfChange',
  takes: { change: uuid, name: text },
  row: { id: uuid },
  planned: true,
  // The ids of a change are made at one moment and ascend, so that only what other processes made at that moment may come between.
  // The limit within has PostgreSQL go along the key: without it a plan for any value reads all later rows of the account.
  text: ({ account, change, name }) => sql`
    select e.id from (
      select id, change_id, name from outbox_events where account_id = ${account} and id > ${change} order by id limit 1000
    ) e where e.change_id = ${change} and e.name = ${name} limit 1`,
});

/** The id of the event that tells a change under the name that is shown. */
async function idOfNamedEvent(ctx: Context, { eventId, changeId, name, names }: FeedEvent): Promise<string> {
  if (name === names[0]) return eventId;
  const [event] = await ctx.rows(eventOfChange, { change: changeId, name });
  return event?.id ?? eventId;
}

/**
 * Chooses the changes of one type of record. What an argument of `by` is compared with is the field of the record as it was
 * then or, where the event changed it, before: who watches a column is told of what leaves it as well.
 */
function wantedOf(events: RecordEvents, by: readonly string[], byPerson = false) {
  const own = `${fieldOf(events)}Id`;
  return (ctx: Context, args: Record<string, unknown> & Choice): Wanted => {
    const chosen = chosenNames(ctx, args);
    for (const name of chosen ?? []) check(events.names.includes(name), () => foreign(events, args, name));
    const given = [own, ...by].flatMap((name) => (typeof args[name] === 'string' ? [{ name, id: args[name].toLowerCase() }] : []));
    for (const { name, id } of given) check(isUuid(id), () => invalidField(name, 'invalid_format', 'must be a UUID'));
    const idsOf = (event: FeedEvent, name: string) => (name === own ? [event.entityId] : [event.data[name], event.changes?.[name]?.from]);
    return {
      names: visibleNames(ctx, events.names),
      // The first event of a change has all that changed; those of its more specific events are told with it.
      matches: (event) =>
        event.eventId === event.changeId &&
        nameShown(event, chosen) !== undefined &&
        given.every(({ name, id }) => idsOf(event, name).includes(id)),
      shows: (event) => ({ ...event, name: nameShown(event, chosen)!, kind: nameShown(event, chosen)! }),
      batches: args.batches === true,
      byPerson,
    };
  };
}

/** The name under which a change is told: that of its most specific event, of those that are asked for; undefined where it has none. */
const nameShown = ({ names }: FeedEvent, asked: readonly string[] | null) => names.findLast((name) => asked?.includes(name) ?? true);

const foreign = (events: RecordEvents, { names }: Choice, name: string) =>
  invalidField(names?.includes(name) ? 'names' : 'kinds', 'not_allowed', `${name} does not happen to ${events.type} records`, events.names);
