import { invalidChoice, invalidField } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { type FilterField, type KnownField, type Operator, operatorsOf } from './filterField.js';
import { type Askable, type Condition, ConditionCount, dottedPath, Records } from './filterTree.js';
import type { Relation } from './relation.js';
import type { AnyTable } from './table.js';

/** The JSON of a saved list, a bulk edit or the parameter `filters` as a tree. Throws 400 naming the place that is wrong. */
export const readFilters = (ctx: Context, table: AnyTable, tree: unknown): Condition<FilterField> =>
  readTree(Records.of(ctx, table), tree, 'filters');

/** The JSON of conditions over anything as a tree. Throws 400 naming the place that is wrong, which stands at `at`. */
export const readTree = <F extends KnownField>(records: Askable<F>, tree: unknown, at: string): Condition<F> =>
  new Reader<F>(new ConditionCount()).node(records, tree, at, 0);

type Leaf = Record<'field' | 'op' | 'value', unknown>;

class Reader<F extends KnownField> {
  constructor(private readonly total: ConditionCount) {}

  node(records: Askable<F>, node: unknown, at: string, depth: number): Condition<F> {
    this.total.count(at, depth);
    if (typeof node !== 'object' || node === null || Array.isArray(node))
      throw invalidField(at, 'invalid_type', 'must be a condition object');
    checkMembers(node, at);
    const { and, or, not, field, op = 'eq', value } = node as Record<string, unknown>;
    if (and !== undefined) return this.#group(records, 'and', and, at, depth);
    if (or !== undefined) return this.#group(records, 'or', or, at, depth);
    if (not !== undefined) return { kind: 'not', of: this.node(records, not, `${at}.not`, depth + 1) };
    return this.#leaf(records, { field, op, value }, at, depth);
  }

  #group(records: Askable<F>, kind: 'and' | 'or', nodes: unknown, at: string, depth: number): Condition<F> {
    const there = `${at}.${kind}`;
    if (!Array.isArray(nodes)) throw invalidField(there, 'invalid_type', 'must be a list of conditions');
    if (nodes.length === 0) throw invalidField(there, 'too_few', 'must hold at least one condition');
    return { kind, of: nodes.map((node, i) => this.node(records, node, `${there}.${i}`, depth + 1)) };
  }

  #leaf(records: Askable<F>, leaf: Leaf, at: string, depth: number): Condition<F> {
    const { field: name, op, value } = leaf;
    if (typeof name !== 'string') throw invalidField(`${at}.field`, 'invalid_type', 'must name a field');
    records.allow(name);
    const relation = records.relations.get(name);
    const field = records.field(name, value);
    const fits = [...(field ? wordsFor(field) : []), ...(relation ? waysOf(relation) : [])];
    if (fits.length === 0) throw unknownField(records, at);
    if (typeof op !== 'string' || !fits.includes(op)) throw invalidChoice(`${at}.op`, fits);
    if (relation && waysOf(relation).includes(op as Way)) {
      this.total.countRelation(at, records.depth + 1);
      const of = this.#inside(records.beyond(relation), value, `${at}.value`, depth);
      return { kind: 'related', relation, how: op as Way, of };
    }
    const path = dottedPath(`${at}.value`);
    if (op === 'is_null' || op === 'is_not_null')
      return { kind: 'compared', field: field!, operator: 'is_empty', value: op === 'is_null', path };
    return { kind: 'compared', field: field!, operator: op as Operator, value, path };
  }

  /** What is asked of the records that a relation leads to; that there is one at all where nothing is. */
  #inside(records: Askable<F>, value: unknown, at: string, depth: number): Condition<F> {
    const isAny = value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
    return isAny ? { kind: 'and', of: [] } : this.node(records, value, at, depth + 1);
  }
}

/** What is not understood must not be passed over: less would be asked than was meant, and more would be found. */
function checkMembers(node: object, at: string): void {
  const given = Object.keys(node);
  const unknown = given.find((name) => !['and', 'or', 'not', 'field', 'op', 'value'].includes(name));
  if (unknown) throw invalidField(`${at}.${unknown}`, 'unknown_field', 'is not a member of a condition');
  const group = given.find((name) => ['and', 'or', 'not'].includes(name));
  if (group && given.length > 1) throw invalidField(at, 'conflicting', `must be one condition: ${group}, or another`);
}

type Way = 'is' | 'some' | 'none';
const waysOf = ({ kind }: Relation): readonly Way[] => (kind === 'one' ? ['is'] : ['some', 'none']);

/** The operators of a field by the words of the JSON. */
const wordsFor = ({ kind }: KnownField): readonly string[] => [...operatorsOf(kind), 'is_null', 'is_not_null'];

function unknownField<F extends KnownField>({ names: fields, relations }: Askable<F>, at: string) {
  const names = [...new Set([...fields, ...relations.keys()])];
  const keys = fields.includes('customFields') ? ' or customFields.<key>' : '';
  return invalidField(`${at}.field`, 'not_allowed', `must be one of ${names.join(', ')}${keys}`, names);
}
