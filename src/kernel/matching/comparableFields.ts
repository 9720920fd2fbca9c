import { type GraphQLObjectType, getNamedType, isListType, isNonNullType, isObjectType } from 'graphql';
import type { Context } from '../context/context.js';
import type { Changes } from '../events/changes.js';
import type { FieldRule } from '../model/fieldRules.js';
import { type RecordField, recordFields } from '../model/restRecord.js';
import type { FilterKind, KnownField } from '../tables/filterField.js';
import { customKind, filterFieldsOf, kindOfRule } from '../tables/filterFields.js';
import { type Askable, customKey } from '../tables/filterTree.js';
import type { AnyTable } from '../tables/table.js';
import { numberText, textOfJson } from './valueForms.js';

/** What conditions are evaluated over: a record as REST shows it, and what a change made of it. */
export interface ChangedRecord {
  data: Readonly<Record<string, unknown>>;
  changes?: Changes | null;
}

/** A field of a REST record that a condition may name. */
export interface ComparableField extends KnownField {
  name: string;
  /** Whether it has several values, one of which must meet a condition. */
  isMany: boolean;
  /** Its values; none where there is none. */
  values(record: ChangedRecord): unknown[];
  /** Of a field of a change: whether that is among what was changed. Of what was not, no comparison holds. */
  isChanged?(record: ChangedRecord): boolean;
  /** What a custom field holds, in which a value is found as well: the items of a list, or what is none. */
  held?(record: ChangedRecord): readonly unknown[];
}

/** How a field is found: in the record, or in the old or new values of a change. */
interface Shown {
  kind: FilterKind;
  isMany: boolean;
  path: readonly string[];
}

const known = new WeakMap<GraphQLObjectType, ReadonlyMap<string, Shown>>();

/** The fields of a type's REST record, with the members of the objects in it: `attribution.utm_source`, `products.name`. */
function shownFields({ app: { registry } }: Context, name: string): ReadonlyMap<string, Shown> {
  const type = registry.schema().getType(name) as GraphQLObjectType;
  const made = known.get(type) ?? new Map(recordFields(type).flatMap((field) => shownField(registry.tables.get(name) as AnyTable, field)));
  known.set(type, made);
  return made;
}

function shownField(table: AnyTable | undefined, { member: name, shown, field, selection }: RecordField): [string, Shown][] {
  const inTable = table && filterFieldsOf(table)[name];
  const inner = getNamedType(field.type);
  const kind = inTable?.kind ?? kindOf(field);
  const own: [string, Shown] = [shown, { kind, isMany: inTable?.some !== undefined, path: [shown] }];
  if (!isObjectType(inner)) return [own];
  const members = recordFields(inner).filter((member) => !selection || selection.includes(member.name));
  const inside = members.map((member): [string, Shown] => {
    const path = [shown, member.shown];
    const known = table && filterFieldsOf(table)[`${name}.${member.member}`];
    return [path.join('.'), { kind: known?.kind ?? kindOf(member.field), isMany: isList(field.type), path }];
  });
  return [own, ...inside];
}

const isList = (type: unknown): boolean => (isNonNullType(type) ? isList(type.ofType) : isListType(type));

const scalarKinds: Record<string, FilterKind> = {
  ID: 'uuid',
  String: 'text',
  Boolean: 'boolean',
  Int: 'integer',
  Float: 'numeric',
  Decimal: 'numeric',
  DateTime: 'timestamptz',
  LocalDate: 'date',
};

function kindOf({ type, extensions }: RecordField['field']): FilterKind {
  const rule = extensions.rule as FieldRule | undefined;
  if (rule) return rule.list && isObjectType(getNamedType(type)) ? 'json' : kindOfRule(rule);
  return isList(type) ? 'json' : (scalarKinds[getNamedType(type).name] ?? 'json');
}

/** The name of a field of a change: the field, and which of its values. */
export const ofChange = /^changes\.(.+)\.(from|to)$/;

/** What conditions over a REST record may ask for: its fields by name, custom ones by key, and `changes.<field>.from` and `.to`. */
export class ComparableFields implements Askable<ComparableField> {
  readonly #fields: ReadonlyMap<string, Shown>;
  readonly relations = new Map<string, never>();
  readonly depth = 0;

  constructor(ctx: Context, type: string) {
    this.#fields = shownFields(ctx, type);
  }

  get names(): readonly string[] {
    return [...this.#fields.keys(), 'changes.<field>.from', 'changes.<field>.to'];
  }

  field(name: string, value: unknown): ComparableField | undefined {
    const [, changed, side] = ofChange.exec(name) ?? [];
    return this.#field(changed ?? name, name, value, side as 'from' | 'to' | undefined);
  }

  allow(): void {}

  beyond(): this {
    return this;
  }

  #field(of: string, name: string, value: unknown, side?: 'from' | 'to'): ComparableField | undefined {
    const key = customKey(of);
    if (this.#fields.has('customFields') && key) return custom(key, name, customKind(value), side);
    const shown = this.#fields.get(of);
    if (!shown) return undefined;
    const { kind, isMany, path } = shown;
    return { name, kind, isMany, values: (record) => valuesAt(shown, record, side), ...ofChanged(path[0]!, side) };
  }
}

/** What a field of a change asks first, by the name that the change has for it. */
const ofChanged = (name: string, side?: 'from' | 'to'): Pick<ComparableField, 'isChanged'> =>
  side ? { isChanged: ({ changes }) => Object.hasOwn(changes ?? {}, name) } : {};

function valuesAt({ path, kind, isMany }: Shown, { data, changes }: ChangedRecord, side?: 'from' | 'to'): unknown[] {
  const whole = side ? changes?.[path[0]!]?.[side] : data[path[0]!];
  const items = isMany && Array.isArray(whole) ? whole : [whole];
  return items.map((item) => inForm(path[1] ? memberOf(item, path[1]) : item, kind, isMany)).filter((value) => value !== null);
}

const memberOf = (item: unknown, name: string): unknown =>
  typeof item === 'object' && item !== null && Object.hasOwn(item, name) ? (item as Record<string, unknown>)[name] : null;

/** A value in the form in which its kind is compared; what stands for a record that has a name is its name. */
function inForm(value: unknown, kind: FilterKind, isMany: boolean): unknown {
  if (value === null || value === undefined) return null;
  if (kind === 'json') return value;
  const plain = isMany && typeof value === 'object' ? memberOf(value, 'name') : value;
  if (plain === null) return null;
  if (kind === 'integer' || kind === 'numeric') return numberText(plain);
  if (kind === 'text' || kind === 'name') return textOfJson(plain);
  return typeof plain === 'object' && !(plain instanceof Date) ? null : plain;
}

function custom(key: string, name: string, kind: 'text' | 'numeric', side?: 'from' | 'to'): ComparableField {
  const whole = ({ data, changes }: ChangedRecord) =>
    side ? (changes?.[`customFields.${key}`]?.[side] ?? null) : memberOf(data.customFields, key);
  const values = (record: ChangedRecord): unknown[] => {
    const value = whole(record);
    const compared = value === null || value === undefined ? null : kind === 'text' ? textOfJson(value) : numberText(value);
    return compared === null ? [] : [compared];
  };
  const held = (record: ChangedRecord): readonly unknown[] => {
    const its = whole(record);
    return Array.isArray(its) ? its : [its];
  };
  return { name, kind, isMany: false, values, held, ...ofChanged(`customFields.${key}`, side) };
}
