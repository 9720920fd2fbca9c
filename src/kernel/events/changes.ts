import { isDeepStrictEqual } from 'node:util';
import { type GraphQLObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import { Printed } from '../base/jsonText.js';
import type { Principal } from '../base/principal.js';
import { shortened } from '../base/unicode.js';
import { recordText } from '../model/restRecord.js';
import { Decimal } from '../model/scalars.js';
import type { EventName, RecordEvents } from './recordEvents.js';

/** A field's old and new value. */
export type Changes = Record<string, { from: unknown; to: unknown }>;

/** What other modules hear of a change: one of its events. */
export interface DomainEvent {
  /** The event's name: "contact.updated". */
  name: EventName;
  record: { id: string };
  /** What this event is about; absent where a record was made or went. */
  changes?: Changes;
  /** What the log entry hangs on besides its own entity. */
  contactId?: string | null;
  dealId?: string | null;
}

/** A change of one record. It is one entry of the log, and has one event or more. */
export interface Change extends DomainEvent {
  /** The more specific events, the most specific last, each with the fields that it is about: all of those that it names. */
  also?: { readonly [Name in EventName]?: readonly string[] };
  /** The one person who may see it; everybody whose rights cover it by default. The log, which is everybody's, keeps none of it. */
  onlyFor?: string | null;
  /** False where it is not worth an entry of the log: progress, or an entry itself. */
  logged?: boolean;
  /** Whether the events tell less of the record than it shows: no answer is made of what they tell. */
  isToldShort?: boolean;
}

const actions: Record<string, string> = {
  created: 'created',
  invited: 'created',
  submitted: 'created',
  deleted: 'deleted',
  removed: 'deleted',
  archived: 'deleted',
};

/** The log entry's title: "contact.stage_changed" → "Contact stage changed". */
const titleOf = (name: string) => {
  const words = name.replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Whose doing a change is, and the schema that says how its record is shown. */
export interface EventContext {
  schema: GraphQLSchema;
  /** The declared events by name. */
  events: ReadonlyMap<string, { of: RecordEvents }>;
  caller: Pick<Principal, 'userId' | 'userName' | 'actor'>;
  request: { id: string; clientMutationId?: string; mutationId?: string; batchId?: string; traceparent?: string; tracestate?: string };
  clock: { id(): string };
  /** In what members follow from their row that it does not carry. */
  shownIn: object;
}

/** The events of a change, the general one first. */
export const domainEventsOf = ({
  also = {},
  logged: _logged,
  onlyFor: _onlyFor,
  isToldShort: _isToldShort,
  ...general
}: Change): DomainEvent[] => [
  general,
  ...Object.entries(also).map(([name, fields]) => ({ ...general, name: name as EventName, changes: only(general.changes, fields) })),
];

const only = (changes: Changes | undefined, fields: readonly string[]): Changes | undefined =>
  changes && Object.fromEntries(Object.entries(changes).filter(([field]) => fields.includes(field)));

/** The record type that an event is about. Throws where no module declares the event. */
function declared({ events }: EventContext, name: string): RecordEvents {
  const known = events.get(name);
  if (!known) throw new Error(`No module declares the event ${name}`);
  return known.of;
}

const longestLabel = 200;

/** How a record is called, so that an entry says which one it was when it is gone; null where it has no name. */
function labelOf(record: object): string | null {
  const { title, name, label, firstName, lastName, invoiceNumber, subject, email, phone, body } = record as Record<string, unknown>;
  const person = [firstName, lastName].filter(Boolean).join(' ');
  const found = [title, name, label, person, invoiceNumber, subject, email, phone, body].find((text) => typeof text === 'string' && text);
  return found === undefined ? null : shortened(found as string, longestLabel);
}

/** A change as its entry in the log: under the name of its most specific event. */
export function entryOf(context: EventContext, change: Change): Record<string, unknown> {
  const { userId, userName } = context.caller;
  // Said where there is none as well, so that the entries of a unit of work have one shape and are written by one clause.
  const { contactId = null, dealId = null } = change;
  const name = domainEventsOf(change).at(-1)!.name;
  const action = actions[name.split('.')[1]!] ?? actions[change.name.split('.')[1]!] ?? 'updated';
  const description = labelOf(change.record);
  return { type: name, title: titleOf(name), description, ...entityOf(context, change), action, contactId, dealId, userId, userName };
}

/** The type of a record, and the record as it is shown. */
export interface Shown {
  type: string;
  data: Printed;
}

/** A change as its events, with the record as it is now. The first event's id is the id of the change. */
export function eventsOfChange(context: EventContext, change: Change): Shown & { events: Record<string, unknown>[] } {
  const { userId, userName, actor = { kind: 'user', id: userId, name: userName } } = context.caller;
  const { id: requestId, batchId = null, traceparent = null, tracestate = null } = context.request;
  const clientMutationId = context.request.mutationId ?? context.request.clientMutationId ?? null;
  const { type } = declared(context, change.name);
  const data = new Printed(recordText(context.schema, type, change.record, context.shownIn));
  const all = domainEventsOf(change);
  const changeId = context.clock.id();
  const names = all.length > 1 ? all.map(({ name }) => name) : null;
  const onlyFor = change.onlyFor ?? null;
  const events = all.map((event, nth) => {
    const { entityType, entityId, changes } = entityOf(context, event);
    const id = nth === 0 ? changeId : context.clock.id();
    // One literal, as every other way of making it costs several times as much.
    // biome-ignore format: a member of the row a word
    return {
      id, name: event.name, entityType, entityId, changes, changeId, names, data,
      actorKind: actor.kind, actorId: actor.id, actorName: actor.name,
      clientMutationId, batchId, requestId, traceparent, tracestate, onlyFor,
    };
  });
  return { type, data, events };
}

function entityOf(context: EventContext, { name, record, changes }: DomainEvent) {
  const { type } = declared(context, name);
  const asShown = changes ? changesShown(context.schema.getType(type) as GraphQLObjectType, changes) : null;
  return { entityType: type.toLowerCase(), entityId: record.id, changes: asShown };
}

/** Changes in which the amounts of a list's members, compared exactly, are numbers as the record shows them. */
export function amountsShown(changes: Changes, list: string, amounts: readonly string[]): Changes {
  const change = changes[list];
  if (!change) return changes;
  const shown = (members: unknown) =>
    (members as Record<string, unknown>[]).map((member) => ({
      ...member,
      ...Object.fromEntries(amounts.map((name) => [name, member[name] === null ? null : Number(member[name])])),
    }));
  return { ...changes, [list]: { from: shown(change.from), to: shown(change.to) } };
}

/** Changes as the record shows its fields: an exact decimal is a number there. */
function changesShown(type: GraphQLObjectType, changes: Changes): Changes {
  const fields = type.getFields();
  const asShown = (name: string, value: unknown) =>
    value !== null && fields[name] && getNamedType(fields[name].type) === Decimal ? Decimal.serialize(value) : value;
  return Object.fromEntries(
    Object.entries(changes).map(([name, { from, to }]) => [name, { from: asShown(name, from), to: asShown(name, to) }]),
  );
}

const plain = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : (value ?? null);
};

/** Whether nothing differs: then there is nothing to write and nothing to tell. */
export const isNothing = (changes: Changes): boolean => Object.keys(changes).length === 0;

/** What differs between two states of a record, field by field; `customFields.key` is one entry a key. */
export function changesBetween(before: object, after: object, fields: readonly string[]): Changes {
  const [old, fresh] = [before as Record<string, unknown>, after as Record<string, unknown>];
  const changes: Changes = {};
  const note = (field: string, from: unknown, to: unknown) => {
    // Not as text: jsonb answers the keys of an object in an order of its own.
    if (!isDeepStrictEqual(from, to)) changes[field] = { from, to };
  };
  for (const field of fields) {
    if (field === 'customFields') {
      const [a, b] = [old[field] ?? {}, fresh[field] ?? {}] as Record<string, unknown>[];
      // Keys are the client's: one may be called like a member that every object inherits.
      const own = (values: Record<string, unknown>, key: string) => plain(Object.hasOwn(values, key) ? values[key] : undefined);
      for (const key of new Set([...Object.keys(a!), ...Object.keys(b!)])) note(`customFields.${key}`, own(a!, key), own(b!, key));
    } else note(field, plain(old[field]), plain(fresh[field]));
  }
  return changes;
}
