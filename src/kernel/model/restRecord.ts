import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { isRenamed } from './enums.js';
import { type FieldRule, memberOf } from './fieldRules.js';

/** What makes a member of the others of its row, by the context in which that is shown. */
export type Derived = (row: never, ctx: never) => unknown;

/** One field of a record as REST shows it. `selection` names the fields of a relation that belongs to the record. */
export interface RecordField {
  name: string;
  /** The member of a row that it shows. */
  member: string;
  /** The member that it is in REST. */
  shown: string;
  field: GraphQLField<unknown, unknown>;
  selection?: string[];
  /** How it follows from a row that does not carry it, where that needs no statement. */
  derived?: Derived;
}

interface Marks {
  record?: string[];
  rule?: object;
  restNames?: string[];
  derived?: Derived;
}

const known = new WeakMap<GraphQLObjectType, RecordField[]>();

/** The fields that make a type's REST record: its own lines of the model, and the relations that it carries along. */
export function recordFields(type: GraphQLObjectType): RecordField[] {
  const cached = known.get(type);
  if (cached) return cached;
  const fields = Object.values(type.getFields()).flatMap((field): RecordField[] => {
    const { record: selection, rule, restNames, derived } = field.extensions as Marks;
    if (!selection && !rule) return [];
    const member = memberOf(field);
    const part = selection?.length ? { selection } : {};
    return (restNames ?? [member]).map((shown) => ({ name: field.name, member, shown, field, derived, ...part }));
  });
  const ordered = [...fields.filter((f) => f.shown === 'id'), ...fields.filter((f) => f.shown !== 'id')];
  known.set(type, ordered);
  return ordered;
}

/** Whether the records of a type have a member of this name, as it is shown or as it is kept. */
export const hasMember = (schema: GraphQLSchema, typeName: string, name: string): boolean =>
  recordFields(schema.getType(typeName) as GraphQLObjectType).some(({ member, shown }) => member === name || shown === name);

/** The members of a type's REST record that are amounts, which have two places; none where there is no such type. */
export function amountsIn(schema: GraphQLSchema, typeName: string): string[] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) return [];
  return recordFields(type).flatMap(({ field, shown }) => ((field.extensions.rule as FieldRule | undefined)?.exact ? [shown] : []));
}

/** The members of a type's REST record that are lists of other records, each with the type of those. */
function listsIn(schema: GraphQLSchema, typeName: string): [member: string, type: string][] {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) return [];
  return recordFields(type).flatMap(({ field, shown }): [string, string][] => {
    const [whole, one] = [isNonNullType(field.type) ? field.type.ofType : field.type, getNamedType(field.type)];
    return isListType(whole) && isObjectType(one) ? [[shown, one.name]] : [];
  });
}

type Members = Readonly<Record<string, unknown>>;

/** A REST record with its amounts as `written` has them, and with those of the records that it has lists of: the lines of an invoice. */
export function withAmounts(schema: GraphQLSchema, typeName: string, record: Members, written: (value: unknown) => unknown): Members {
  const shown: Record<string, unknown> = { ...record };
  for (const name of amountsIn(schema, typeName)) if (Object.hasOwn(shown, name)) shown[name] = written(shown[name]);
  for (const [name, one] of listsIn(schema, typeName)) {
    const list = shown[name];
    if (Array.isArray(list)) shown[name] = list.map((part: Members) => withAmounts(schema, one, part, written));
  }
  return shown;
}

/** Some fields of a type as a parent's REST record shows them: in the order of its own record, or as told where it has not all of them. */
export function shownFields(type: GraphQLObjectType, only?: string[]): RecordField[] {
  const own = recordFields(type);
  if (!only) return own;
  const known = new Map(own.map((field) => [field.name, field]));
  if (only.every((name) => known.has(name))) return own.filter(({ name }) => only.includes(name));
  return only.map((name) => known.get(name) ?? { name, member: name, shown: name, field: type.getFields()[name]! });
}

/** The selection set of a type's REST record; `directive` says what goes behind a field of it. */
export function recordSelection(type: GraphQLObjectType, only?: string[], directive = (_shown: string) => ''): string {
  const fields = shownFields(type, only).map(({ name, shown, field, selection }) => {
    const inner = getNamedType(field.type);
    const selected = `${shown === name ? name : `${shown}: ${name}`}${directive(shown)}`;
    return isObjectType(inner) ? `${selected} ${recordSelection(inner, selection)}` : selected;
  });
  return `{ ${fields.join(' ')} }`;
}

/** Whether a row carries all that its type's REST record shows, relations included, or what that follows from. */
export const isWhole = (schema: GraphQLSchema, typeName: string, row: object): boolean =>
  recordFields(schema.getType(typeName) as GraphQLObjectType).every(
    ({ member, derived }) => (row as Record<string, unknown>)[member] !== undefined || derived,
  );

/** The REST record of a row, made without a query: what a run decides by, and sends. */
export const restRecordOf = (schema: GraphQLSchema, typeName: string, row: object, ctx: object): Record<string, unknown> =>
  JSON.parse(recordText(schema, typeName, row, ctx));

/**
 * The REST record of a row as JSON text: what webhooks, the feed and the answer of a write carry. What follows from the row does so in this
 * context.
 */
export const recordText = (schema: GraphQLSchema, typeName: string, row: object, ctx: object): string =>
  textOf(schema.getType(typeName) as GraphQLObjectType, row as Record<string, unknown>, ctx);

/** A member of a record's text: how it begins, and how its value is written. */
interface Member {
  member: string;
  begin: string;
  derived?: Derived;
  write(value: unknown, ctx: object): string;
}

const members = new WeakMap<GraphQLObjectType, Map<string[] | undefined, Member[]>>();

function membersOf(type: GraphQLObjectType, only?: string[]): Member[] {
  const kinds = members.get(type) ?? new Map<string[] | undefined, Member[]>();
  members.set(type, kinds);
  const made =
    kinds.get(only) ??
    shownFields(type, only).map(({ member, shown, field, selection, derived }, nth) => ({
      member,
      derived,
      begin: `${nth > 0 ? ',' : ''}${JSON.stringify(shown)}:`,
      write: writerOf(field.type, selection),
    }));
  kinds.set(only, made);
  return made;
}

// Written by hand: an object of forty members made only to be printed costs several times its text.
function textOf(type: GraphQLObjectType, row: Record<string, unknown>, ctx: object, only?: string[]): string {
  let text = '{';
  for (const { member, begin, derived, write } of membersOf(type, only)) {
    const value = row[member] === undefined && derived ? derived(row as never, ctx as never) : row[member];
    text += begin + (value === null || value === undefined ? 'null' : write(value, ctx));
  }
  return `${text}}`;
}

const json = (value: unknown) => JSON.stringify(value) ?? 'null';

function writerOf(type: GraphQLField<unknown, unknown>['type'], only?: string[]): Member['write'] {
  if (isNonNullType(type)) return writerOf(type.ofType, only);
  if (isListType(type)) {
    const write = writerOf(type.ofType, only);
    const item = (value: unknown, ctx: object) => (value === null || value === undefined ? 'null' : write(value, ctx));
    return (value, ctx) => `[${(value as unknown[]).map((one) => item(one, ctx)).join()}]`;
  }
  if (isEnumType(type) && isRenamed(type)) return json;
  if (isLeafType(type)) return (value) => json(type.serialize(value));
  return isObjectType(type) ? (value, ctx) => textOf(type, value as Record<string, unknown>, ctx, only) : () => 'null';
}
