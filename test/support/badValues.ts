import {
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import type { FieldRule } from '../../src/kernel/model/fieldRules.js';

/** A value that a field must refuse. */
export interface Bad {
  what: string;
  value: unknown;
}

/** A field of an input type, with the names of the objects around it. */
export interface Place {
  path: string[];
  rule: FieldRule;
  type: GraphQLInputType;
}

/**
 * Every field of an input type that a rule stands behind, those of nested objects included. The id that a client may choose is not
 * among them: REST has no such member (test/graphql/ownIds.test.ts).
 */
export function placesOf(input: GraphQLInputObjectType, around: string[] = []): Place[] {
  return Object.values(input.getFields()).flatMap((field: GraphQLInputField) => {
    const rule = field.extensions.rule as FieldRule | undefined;
    if (!rule) throw new Error(`${input.name}.${field.name} has no rule`);
    if (rule.isOwnId) return [];
    const path = [...around, field.name];
    const inner = getNullableType(field.type);
    const nested = isInputObjectType(inner) ? placesOf(inner, path) : [];
    return [{ path, rule, type: field.type }, ...nested];
  });
}

const bad = (what: string, value: unknown): Bad => ({ what, value });

/** What no text may hold. */
const unstorable = [bad('a NUL', 'a\0b'), bad('a lone surrogate', 'a\ud800'), bad('a lone low surrogate', '\udc00b')];
/** What an ORM would take for an operator. */
const operators = [bad('an operator', { contains: '' }), bad('a negation', { not: null }), bad('an assignment', { set: 'x' })];
/** What throws where it is made a text. */
const textless = bad('an object without a text', { toString: 1 });
const noText = [bad('a number', 5), bad('a truth value', true), bad('a list', ['x']), textless, ...operators];

function texts({ schema }: FieldRule): Bad[] {
  const { maxLength: max, minLength: min } = schema as { maxLength?: number; minLength?: number };
  // What stands for an address or a URL has an example, and no format that says all that is taken.
  const form = schema.format || schema.examples ? [bad('another format', 'no such thing')] : [];
  const pattern = schema.pattern ? [bad('another pattern', '#12345g')] : [];
  const long = max ? [bad(`${max + 1} characters`, '😀'.repeat(max + 1)), bad('ten thousand characters', 'x'.repeat(10_000))] : [];
  const short = min ? [bad(`${min - 1} characters`, 'x'.repeat(min - 1))] : [];
  return [...noText, ...unstorable, ...long, ...short, ...pattern, ...(schema.format === 'password' ? [] : form)];
}

/** An id that stands for itself names no record when it is none: that is told of it alone, and is no fault of the body. */
const ids = ({ schema }: FieldRule) => (schema.format === 'uuid' ? uuids() : [bad('a truth value', true), textless, ...operators]);

const uuids = () => [
  ...[bad('no UUID', 'x'), bad('a number', 5), bad('a truth value', true), bad('a NUL', '\0'), ...operators],
  bad('a UUID in braces', '{00000000-0000-7000-8000-000000000000}'),
  bad('a UUID and more', '00000000-0000-7000-8000-000000000000 or true'),
];

function numbers({ schema }: FieldRule, whole: boolean): Bad[] {
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  const range = [...(minimum === undefined ? [] : [minimum - 1]), ...(maximum === undefined ? [] : [maximum + 1])];
  const noInteger = whole ? [bad('a fraction', 1.5), bad('2^31', 2 ** 31), bad('a number as text', '5')] : [bad('no number', '1,5')];
  return [
    ...noInteger,
    bad('words', 'many'),
    bad('a truth value', true),
    bad('a list', [1]),
    textless,
    ...operators,
    ...range.map((n) => bad(`${n}`, n)),
  ];
}

const instants = () => [
  ...[
    'yesterday',
    '2026-02-30T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '2099-01-01T00:00:00',
    '0000-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
  ].map((text) => bad(text, text)),
  ...[bad('a truth value', true), textless, ...operators],
];

const moments = () => [
  ...['yesterday', '2026-02-30', '2026-01-01T25:00:00Z', '0000-01-01', '2026-01-01T10:00:00+99:00'].map((text) => bad(text, text)),
  ...[bad('a number', 5), bad('a truth value', true), ...operators],
];

const nestedBy = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as object;

const objects = () => [bad('text', 'x'), bad('a number', 5), bad('a truth value', true), bad('a list', [1]), ...unkeepable()];

/** JSON that PostgreSQL does not keep. */
const unkeepable = () => [
  ...[bad('a NUL inside', { a: ['\0'] }), bad('a NUL in a key', { 'a\0': 1 }), bad('a lone surrogate inside', { a: { b: '\udfff' } })],
  bad('34 levels', nestedBy(34)),
];

const enums = () => [bad('no member', 'nonsense'), bad('a number', 5), bad('a list', ['nonsense']), textless, ...operators];

function single(rule: FieldRule, type: GraphQLInputType): Bad[] {
  const named = getNamedType(type);
  if (isEnumType(named) || rule.schema.enum) return enums();
  if (isInputObjectType(named)) return [bad('text', 'x'), bad('a number', 5), bad('a truth value', true)];
  const byType: Record<string, () => Bad[]> = {
    String: () => texts(rule),
    ID: () => ids(rule),
    Int: () => numbers(rule, true),
    Float: () => numbers(rule, false),
    Decimal: () => numbers(rule, false),
    Boolean: () => [bad('text', 'true'), bad('a number', 1), textless, ...operators],
    DateTime: instants,
    DateOrDateTime: moments,
    LocalDate: () => [bad('words', 'today'), bad('no day', '2026-02-30'), bad('an instant', '2026-01-01T00:00:00Z'), bad('a number', 5)],
    JSONObject: objects,
    JSON: unkeepable,
  };
  const make = byType[named.name];
  if (!make) throw new Error(`No bad values are known of the type ${named.name}`);
  return make();
}

/** What a field must refuse, from what its line in the model says of it. */
export function badValues({ rule, type }: Place): Bad[] {
  const nothing = rule.required && !rule.nullIsAbsent ? [bad('null', null)] : [];
  if (!isListType(getNullableType(type))) return [...single(rule, type), ...nothing];
  const { maxItems, minItems, items } = rule.schema as { maxItems?: number; minItems?: number; items?: Record<string, unknown> };
  const inner = single({ ...rule, schema: items ?? {} }, type).filter(({ what }) => what !== 'a list');
  const tooMany = maxItems
    ? [
        bad(
          'too many items',
          Array.from({ length: maxItems + 1 }, (_, i) => `${i}`),
        ),
      ]
    : [];
  const tooFew = minItems ? [bad('too few items', [])] : [];
  const within = [...inner, bad('null', null), bad('a list', [['x']])].map(({ what, value }) => bad(`${what} in a list`, [value]));
  return [...within, ...tooMany, ...tooFew, ...nothing];
}
