import { isDeepStrictEqual } from 'node:util';
import type { Context } from './context.js';
import { recordOf } from './record.js';

/** A field's old and new value. */
export type Changes = Record<string, { from: unknown; to: unknown }>;

/** Something that happened to a record. */
export interface Fact {
  /** The event's name: "contact.updated". */
  name: string;
  /** The GraphQL type of the record, "Contact". */
  type: string;
  record: { id: string };
  changes?: Changes;
  /** What the log entry hangs on besides its own entity. */
  contactId?: string | null;
  dealId?: string | null;
}

const actions: Record<string, string> = { created: 'created', deleted: 'deleted' };

/** The log entry's title: "contact.stage_changed" → "Contact stage changed". */
const titleOf = (name: string) => {
  const words = name.replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** A fact as the rows that keep it: its entry in the log, and its event. */
export function rowsOf(ctx: Context, fact: Fact): [model: 'Activity' | 'OutboxEvent', row: Record<string, unknown>][] {
  const { userId, userName } = ctx.caller;
  const entity = { entityType: fact.type.toLowerCase(), entityId: fact.record.id, changes: fact.changes };
  const entry = {
    type: fact.name,
    title: titleOf(fact.name),
    ...entity,
    action: actions[fact.name.split('.')[1] ?? ''] ?? 'updated',
    contactId: fact.contactId,
    dealId: fact.dealId,
    userId,
    userName,
  };
  const data = recordOf(ctx.app.registry.schema(), fact.type, fact.record);
  const event = { name: fact.name, ...entity, data, actorId: userId, actorName: userName, requestId: ctx.request.id };
  return [
    ['Activity', entry],
    ['OutboxEvent', event],
  ];
}

const plain = (value: unknown): unknown => {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.parse(JSON.stringify(value)) : (value ?? null);
};

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
      for (const key of new Set([...Object.keys(a!), ...Object.keys(b!)])) note(`customFields.${key}`, plain(a![key]), plain(b![key]));
    } else note(field, plain(old[field]), plain(fresh[field]));
  }
  return changes;
}
