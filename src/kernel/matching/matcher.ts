import { invalidField } from '../base/errors.js';
import { excerpt } from '../base/jsonText.js';
import type { Context } from '../context/context.js';
import type { Operator } from '../tables/filterField.js';
import { formsOfCustom } from '../tables/filterFields.js';
import { readTree } from '../tables/filterJson.js';
import { checkedFlag, checkedList } from '../tables/filterSql.js';
import { type Condition, ConditionCount, dottedPath } from '../tables/filterTree.js';
import { type ChangedRecord, type ComparableField, ComparableFields } from './comparableFields.js';
import { RecordView } from './recordView.js';
import { equalityTest, type FieldTest, type Ordering, orderTest, textTest, type Wanted } from './valueTests.js';

export type { ChangedRecord } from './comparableFields.js';

/** What one condition saw, and whether it held. */
export interface Seen {
  /** Where it stands: "trigger.conditions.and.0". */
  at: string;
  field: string;
  operator: string;
  /** What the field was compared with; of what is long the beginning. */
  value: unknown;
  /** What it was: its value, of a field of several values all of them, of what is long the beginning; null where there was none. */
  seen: unknown;
  holds: boolean;
}

/** Whether conditions hold, and what each of them saw. */
export interface Evaluation {
  holds: boolean;
  conditions: Seen[];
}

/** Conditions that were read, and hold for a record or do not. What lists are filtered by is SQL: `kernel/tables`. */
export interface Matcher {
  /** `longest`: the characters that are told of each value; 500 by default. */
  evaluate(record: ChangedRecord, longest?: number): Evaluation;
  /** The fields that they ask for, each with the place where that is. */
  asked(): Pick<Seen, 'at' | 'field'>[];
}

/** What is told of a value, in characters: two hundred conditions may ask for the same 64 KB. */
const longestTold = 500;

const grouped = ['and', 'or', 'not', 'field', 'op'];

/**
 * Conditions over a record of a type as REST shows it, and over `changes.<field>.from` and `.to`: `{field: value}`, which holds where
 * all fields have their values (a list names several, one of which is enough, null none), or a tree as the parameter `filters` has
 * it, with the same fields, operators and meanings. Of what did not change no comparison of its change holds, nor does its negation.
 * None, or an empty object, always hold. Throws 400 naming the place, below `at`, that is wrong.
 */
export function matcherOf(ctx: Context, type: string, given: unknown, at: string): Matcher {
  if (given === null || given === undefined) return { evaluate: () => ({ holds: true, conditions: [] }), asked: () => [] };
  if (typeof given !== 'object' || Array.isArray(given)) throw invalidField(at, 'invalid_type', 'must be an object');
  const fields = new ComparableFields(ctx, type);
  const isTree = Object.keys(given).some((name) => grouped.includes(name));
  const tree = isTree ? readTree(fields, given, at) : readMap(fields, given as Record<string, unknown>, at);
  const evaluate = evaluation(ctx, tree);
  return {
    evaluate: (record, longest = longestTold) => {
      const conditions: Seen[] = [];
      return { holds: evaluate(new RecordView(record, longest), conditions) === true, conditions };
    },
    asked: () => comparedIn(tree).map(({ field, path }) => ({ at: path.name, field: field.name })),
  };
}

/** `{field: value}` as a tree, whose places are named by the fields. */
function readMap(fields: ComparableFields, given: Record<string, unknown>, at: string): Condition<ComparableField> {
  const of = Object.entries(given).map(([name, value]): Condition<ComparableField> => {
    const field = fields.field(name, value);
    if (!field)
      throw invalidField(`${at}.${name}`, 'unknown_field', `is no field of the record; its fields are ${fields.names.join(', ')}`);
    const path = dottedPath(`${at}.${name}`);
    const operator = Array.isArray(value) && field.kind !== 'json' ? 'in' : 'eq';
    return { kind: 'compared', field, operator, value, path };
  });
  new ConditionCount().count(at, 0, of.length);
  return { kind: 'and', of };
}

/**
 * Null: nothing is known, since it asks for a change of what did not change. As in SQL, what is not known holds neither as it is nor
 * negated.
 */
type Evaluate = (record: RecordView, seen: Seen[]) => boolean | null;

/** A tree as a function, whose values have been checked. Every condition is looked at, so that each tells what it saw. */
function evaluation(ctx: Context, condition: Condition<ComparableField>): Evaluate {
  if (condition.kind === 'compared') return leaf(ctx, condition);
  if (condition.kind === 'related') throw new Error('A record of an event leads to no others');
  if (condition.kind === 'not') {
    const inner = evaluation(ctx, condition.of);
    return (...of) => {
      const held = inner(...of);
      return held === null ? null : !held;
    };
  }
  const parts = condition.of.map((one) => evaluation(ctx, one));
  const decides = condition.kind === 'or';
  return (...of) => {
    const held = parts.map((part) => part(...of));
    if (held.includes(decides)) return decides;
    return held.includes(null) ? null : !decides;
  };
}

type Compared = Extract<Condition<ComparableField>, { kind: 'compared' }>;

function comparedIn(condition: Condition<ComparableField>): Compared[] {
  if (condition.kind === 'compared') return [condition];
  if (condition.kind === 'and' || condition.kind === 'or') return condition.of.flatMap(comparedIn);
  return condition.kind === 'not' ? comparedIn(condition.of) : [];
}

function leaf(ctx: Context, compared: Compared): Evaluate {
  const { field, operator, value, path } = compared;
  const test = testOf(ctx, compared);
  return (view, seen) => {
    const its = view.of(field);
    const isAsked = field.isChanged?.(view.record) ?? true;
    const holds = isAsked && test(its);
    seen.push({ at: path.name, field: field.name, operator, value: excerpt(value ?? null, view.longest), seen: its.told, holds });
    return isAsked ? holds : null;
  };
}

/** What a condition asks of the values of its field; as in SQL, what has no value is not equal to any, and is below and above none. */
function testOf(ctx: Context, { field, operator, value, path }: Compared): FieldTest {
  const { kind } = field;
  const some =
    (test: (its: unknown) => boolean): FieldTest =>
    ({ ordered }) =>
      ordered.some(test);
  const isNone: FieldTest = ({ all }) => all.length === 0;
  const isOneOf = (wanted: readonly Wanted[]): FieldTest => {
    const given = wanted.filter((one) => one.value !== null);
    const test = equalityTest(kind, given, ctx);
    const forms = field.held ? given.flatMap((one) => formsOfCustom(one.value)) : [];
    const isNoneWanted = given.length < wanted.length;
    return (its) => (isNoneWanted && isNone(its)) || test(its) || forms.some((form) => its.held.has(form));
  };
  const isEqual = () => isOneOf([{ value, at: path.name }]);
  const isAmong = () => isOneOf(checkedList(value, path).map((one, i) => ({ value: one, at: path.item(i) })));
  const orderedBy = (ordering: Ordering, one: unknown, at: string) => orderTest(kind, ordering, one, { ctx, at });
  const answers: Record<Exclude<Operator, Ordering>, () => FieldTest> = {
    is_empty: () => (checkedFlag(value, path) ? isNone : negated(isNone)),
    eq: isEqual,
    neq: () => negated(isEqual()),
    in: isAmong,
    not_in: () => negated(isAmong()),
    between: () => {
      if (!Array.isArray(value) || value.length !== 2) throw invalidField(path.name, 'invalid_type', 'must be a list of two values');
      const [from, to] = [orderedBy('gte', value[0], path.item(0)), orderedBy('lte', value[1], path.item(1))];
      return some((its) => from(its) && to(its));
    },
    contains: () => textTest('contains', value, { ctx, at: path.name }),
    starts_with: () => textTest('starts_with', value, { ctx, at: path.name }),
    ends_with: () => textTest('ends_with', value, { ctx, at: path.name }),
  };
  return operator in answers ? answers[operator as keyof typeof answers]() : some(orderedBy(operator as Ordering, value, path.name));
}

const negated =
  (test: FieldTest): FieldTest =>
  (its) =>
    !test(its);
