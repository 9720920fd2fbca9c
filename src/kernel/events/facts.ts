import { isDeepStrictEqual } from 'node:util';
import { type GraphQLObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import { Printed } from '../base/jsonText.js';
import type { Principal } from '../base/principal.js';
import { recordOf } from '../model/restRecord.js';
import { Decimal } from '../model/scalars.js';

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

const actions: Record<string, string> = {
  ...{ created: 'created', invited: 'created' },
  ...{ deleted: 'deleted', removed: 'deleted', archived: 'deleted' },
};

/** The log entry's title: "contact.stage_changed" → "Contact stage changed". */
const titleOf = (name: string) => {
  const words = name.replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Whose doing a fact is, and the schema that says how its record is shown. */
export interface Source {
  schema: GraphQLSchema;
  caller: Pick<Principal, 'userId' | 'userName'>;
  requestId: string;
}

/** A fact as its entry in the log. */
export function entryOf({ schema, caller }: Source, fact: Fact): Record<string, unknown> {
  const { userId, userName } = caller;
  const action = actions[fact.name.split('.')[1] ?? ''] ?? 'updated';
  const { contactId, dealId } = fact;
  return { type: fact.name, title: titleOf(fact.name), ...entityOf(schema, fact), action, contactId, dealId, userId, userName };
}

/** A fact as its event, with the record as it is now. */
export function eventOf({ schema, caller, requestId }: Source, fact: Fact): Record<string, unknown> & { data: Printed } {
  const { userId, userName } = caller;
  const data = printRecord(schema, fact.type, fact.record);
  return { name: fact.name, ...entityOf(schema, fact), data, actorId: userId, actorName: userName, requestId };
}

/** A record of a GraphQL type as REST shows it. */
export const printRecord = (schema: GraphQLSchema, type: string, record: object): Printed =>
  new Printed(JSON.stringify(recordOf(schema, type, record)));

const entityOf = (schema: GraphQLSchema, { type, record, changes }: Fact) => ({
  entityType: type.toLowerCase(),
  entityId: record.id,
  changes: changes && shown(schema.getType(type) as GraphQLObjectType, changes),
});

/** Changes as the record shows its fields: an exact decimal is a number there. */
function shown(type: GraphQLObjectType, changes: Changes): Changes {
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
