import { invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { jsonFault } from '../model/jsonFault.js';
import { type FilterField, type Operator, operatorsOf } from './filterField.js';
import { customField } from './filterFields.js';
import { type Condition, ConditionCount, type ConditionPath, Records } from './filterTree.js';
import type { Relation } from './relation.js';
import type { AnyTable } from './table.js';

type Node = Record<string, unknown>;

/** A path in `where`, whose items are `name[0]`, `name[1]` … */
const bracketPath = (name: string): ConditionPath => ({ name, item: (index) => `${name}[${index}]` });

/**
 * The typed `where` of a list as a tree. Its shape is the schema's; throws 400 naming the place where it asks for nothing, or for too much.
 */
export const readWhere = (ctx: Context, table: AnyTable, where: object): Condition =>
  new Reader(new ConditionCount()).records(Records.of(ctx, table), where as Node, 'where', 0);

/** What is null is refused where it is read. */
type Parts = { and?: object[] | null; or?: object[] | null } & Record<string, { eq?: unknown; in?: unknown[] } | null | undefined>;

const partsOf = (where: object | null | undefined, field: string) => {
  const { and, or, [field]: its } = (where ?? {}) as Parts;
  return { and: and ?? [], or: or ?? [], its };
};

/** Whether all that a typed `where` finds is to have one of the values that it names for a field. */
function narrows(where: object, field: string): boolean {
  const { and, or, its } = partsOf(where, field);
  const isInAll = or.length > 0 && or.every((one) => narrows(one, field));
  return its?.eq !== undefined || its?.in !== undefined || isInAll || and.some((one) => narrows(one, field));
}

/**
 * Whether all that a typed `where` finds is to have a value in a field that it names, alone or as one of several: what a list leaves out
 * unless it is asked for is asked for then. Of `or` each branch must name values of the field, and one of them this value: else it finds
 * by other fields, too, and of those it leaves out what it does otherwise.
 */
export function asksFor(where: object | null | undefined, field: string, value: unknown): boolean {
  const { and, or, its } = partsOf(where, field);
  const isAsked = (one: object) => asksFor(one, field, value);
  const isInOr = or.every((one) => narrows(one, field)) && or.some(isAsked);
  return its?.eq === value || its?.in?.includes(value) || isInOr || and.some(isAsked);
}

class Reader {
  constructor(private readonly total: ConditionCount) {}

  /** All that is asked of a record. */
  records(records: Records, node: Node, at: string, depth: number): Condition {
    const members = membersOf(node, at);
    // What holds one condition only is that condition, as it is in JSON.
    this.total.count(at, depth, members.length === 1 ? 0 : 1);
    return all(
      members.map(([name, value]): Condition => {
        const there = `${at}.${name}`;
        if (name === 'and' || name === 'or') return this.#group(records, name, value as Node[], there, depth);
        if (name === 'not') return { kind: 'not', of: this.records(records, value as Node, there, depth + 1) };
        records.allow(name);
        return this.#field(records, name, value as Node, there, depth);
      }),
    );
  }

  #group(records: Records, kind: 'and' | 'or', nodes: Node[], at: string, depth: number): Condition {
    if (nodes.length === 0) throw invalidField(at, 'too_few', 'must hold at least one condition');
    return { kind, of: nodes.map((node, i) => this.records(records, node, `${at}[${i}]`, depth + 1)) };
  }

  #field(records: Records, name: string, node: Node, at: string, depth: number): Condition {
    const relation = records.relations.get(name);
    if (relation?.kind === 'one') return this.#reached(records, relation, 'is', node, at, depth);
    if (name === custom) return this.#customFields(node, at, depth);
    const members = membersOf(node, at);
    if (members.length === 0) throw invalidField(at, 'required', 'must say how it is compared');
    return all(
      members.map(([member, value]): Condition => {
        const there = `${at}.${member}`;
        if (relation && (member === 'some' || member === 'none'))
          return this.#reached(records, relation, member, value as Node, there, depth);
        const inner = records.fields[`${name}.${member}`];
        if (inner && !isOperator(records.fields[name], member)) return this.#compared(inner, value as Node, there, depth);
        return this.#leaf(records.fields[name]!, member, value, there, depth);
      }),
    );
  }

  #compared(field: FilterField, node: Node, at: string, depth: number): Condition {
    const members = membersOf(node, at);
    if (members.length === 0) throw invalidField(at, 'required', 'must say how it is compared');
    return all(members.map(([operator, value]) => this.#leaf(field, operator, value, `${at}.${operator}`, depth)));
  }

  #leaf(field: FilterField, operator: string, value: unknown, at: string, depth: number): Condition {
    this.total.count(at, depth + 1);
    return { kind: 'compared', field, operator: operator as Operator, value, path: bracketPath(at) };
  }

  #reached(records: Records, relation: Relation, how: 'is' | 'some' | 'none', node: Node, at: string, depth: number): Condition {
    this.total.countRelation(at, records.depth + 1);
    return { kind: 'related', relation, how, of: this.records(records.beyond(relation), node, at, depth + 1) };
  }

  /** Custom fields by key: what each is compared with says as what. */
  #customFields(node: Node, at: string, depth: number): Condition {
    const keys = membersOf(node, at);
    if (keys.length === 0) throw invalidField(at, 'required', 'must name a custom field');
    return all(
      keys.map(([key, asked]): Condition => {
        const there = `${at}.${key}`;
        const fault = jsonFault(key);
        if (fault) throw invalidField(at, fault.code, fault.message);
        if (typeof asked !== 'object' || asked === null || Array.isArray(asked))
          throw invalidField(there, 'invalid_type', 'must say how it is compared: {"eq": "gold"}');
        const members = membersOf(asked as Node, there);
        if (members.length === 0) throw invalidField(there, 'required', 'must say how it is compared');
        return all(
          members.map(([operator, value]): Condition => {
            const field = customField(key, value);
            if (!isOperator(field, operator))
              throw invalidField(`${there}.${operator}`, 'unknown_field', `must be one of ${operatorsOf(field.kind).join(', ')}`);
            return this.#leaf(field, operator, value, `${there}.${operator}`, depth);
          }),
        );
      }),
    );
  }
}

const custom = 'customFields';

const isOperator = (field: FilterField | undefined, name: string) =>
  field !== undefined && (operatorsOf(field.kind) as readonly string[]).includes(name);

const all = (conditions: Condition[]): Condition => (conditions.length === 1 ? conditions[0]! : { kind: 'and', of: conditions });

/** What is given. A null could mean that there is none, or nothing at all: it is refused where it is no value. */
function membersOf(node: Node, at: string): [string, unknown][] {
  return Object.entries(node).filter(([name, value]) => {
    if (value === null && !valued.has(name))
      throw invalidField(`${at}.${name}`, 'required', 'must not be null; is_empty asks for no value');
    return value !== undefined;
  });
}

/** Operators whose value may be null: there is none. */
const valued = new Set(['eq', 'neq']);
