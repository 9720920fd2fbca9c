import type { GraphQLObjectType } from 'graphql';
import { alongsideOf, mayRead } from '../access/access.js';
import { denied, invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import type { FilterField, FilterFields, KnownField, Operator } from './filterField.js';
import { customField, filterFieldsOf } from './filterFields.js';
import type { Relation } from './relation.js';
import type { AnyTable } from './table.js';

/** A condition as a tree: what the JSON of `filters` and the typed `where` both come to. */
export type Condition<F extends KnownField = FilterField> =
  | { kind: 'and' | 'or'; of: readonly Condition<F>[] }
  | { kind: 'not'; of: Condition<F> }
  | { kind: 'compared'; field: F; operator: Operator; value: unknown; path: ConditionPath }
  | { kind: 'related'; relation: Relation; how: 'is' | 'some' | 'none'; of: Condition<F> };

/** Where something stands in a condition, as messages name it. */
export interface ConditionPath {
  name: string;
  /** The path of an item of the list there. */
  item(index: number): string;
}

/** A path in the JSON of a condition, whose items are `name.0`, `name.1` … */
export const dottedPath = (name: string): ConditionPath => ({ name, item: (index) => `${name}.${index}` });

/** How much a tree may hold. */
const most = { conditions: 200, levels: 16, relations: 10, within: 4 };

/** What has been read of a tree so far. */
export class ConditionCount {
  #conditions = 0;
  #relations = 0;

  /** Throws 400 where there is more than may be. */
  count(at: string, depth: number, conditions = 1): void {
    this.#conditions += conditions;
    if (this.#conditions > most.conditions || depth > most.levels)
      throw invalidField(at, 'too_large', `is too large; at most ${most.conditions} conditions, ${most.levels} levels`);
  }

  countRelation(at: string, within: number): void {
    if (++this.#relations > most.relations || within > most.within)
      throw invalidField(at, 'too_large', `uses too many relations; at most ${most.relations} relations, ${most.within} within each other`);
  }
}

/** What a part of a tree may ask for. */
export interface Askable<F extends KnownField> {
  /** The names of its fields; a custom field is one of `customFields`. */
  readonly names: readonly string[];
  readonly relations: ReadonlyMap<string, Relation>;
  /** How many relations led here. */
  readonly depth: number;
  /** The field of a name; what it is compared with says what a custom field is compared as. */
  field(name: string, value: unknown): F | undefined;
  /** Throws 403 where the caller may not ask for the field. */
  allow(name: string): void;
  /** What a relation leads to. Throws 403 where the caller may see nothing of it. */
  beyond(relation: Relation): Askable<F>;
}

const custom = 'customFields.';

/** The key of a custom field that a name means; undefined where it means another field. */
export const customKey = (name: string): string | undefined =>
  name.startsWith(custom) && name.length > custom.length ? name.slice(custom.length) : undefined;

/** The records that a part of a tree is about, and what of them the caller may ask for. */
export class Records implements Askable<FilterField> {
  readonly fields: FilterFields;
  readonly relations: ReadonlyMap<string, Relation>;

  private constructor(
    private readonly ctx: Context,
    readonly table: AnyTable,
    /** How many relations led here. */
    readonly depth: number,
    /** The scope that the caller lacks, and what may be asked for without it. */
    private readonly lacks?: { scope: string; free: readonly string[] },
  ) {
    this.fields = filterFieldsOf(table);
    this.relations = relationsOf(ctx, table);
  }

  static of(ctx: Context, table: AnyTable): Records {
    return new Records(ctx, table, 0);
  }

  get names(): readonly string[] {
    return Object.keys(this.fields);
  }

  field(name: string, value: unknown): FilterField | undefined {
    const key = customKey(name);
    if (this.fields.customFields && key) return customField(key, value);
    return Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
  }

  /** Throws 403 where the caller may not ask for the field, as for selecting it. */
  allow(name: string): void {
    if (this.lacks && !this.lacks.free.includes(name)) throw denied(`This API key lacks the scope ${this.lacks.scope}`);
  }

  /** The records that a relation leads to. Throws 403 where the caller may see nothing of them. */
  beyond(relation: Relation): Records {
    const schema = this.ctx.app.registry.schema();
    const field = (schema.getType(relation.of.type.name) as GraphQLObjectType).getFields()[relation.name]!;
    const type = schema.getType(relation.to.type.name) as GraphQLObjectType;
    const scope = type.extensions.scope as string | undefined;
    if (!scope || mayRead(this.ctx.caller, scope)) return new Records(this.ctx, relation.to, this.depth + 1);
    const free = alongsideOf(field, type);
    if (free.length === 0) throw denied(`This API key lacks the scope ${scope}`);
    return new Records(this.ctx, relation.to, this.depth + 1, { scope, free });
  }
}

const relations = new WeakMap<AnyTable, ReadonlyMap<string, Relation>>();

/** The declared relations of a table's records, by the names of their fields. */
function relationsOf(ctx: Context, table: AnyTable): ReadonlyMap<string, Relation> {
  const known = relations.get(table);
  if (known) return known;
  const type = ctx.app.registry.schema().getType(table.type.name) as GraphQLObjectType;
  const made = new Map(
    Object.values(type.getFields()).flatMap(({ name, extensions: { relation } }) => (relation ? [[name, relation as Relation]] : [])),
  );
  relations.set(table, made);
  return made;
}
