import 'reflect-metadata';
import { Arg, Args, Extensions, Field, Float, ID, InputType, Int, ObjectType } from 'type-graphql';
import * as values from './checks.js';
import { clean, cleanObject } from './cleaning.js';
import { schemaOf } from './enums.js';
import { type Class, declare, field, type Options } from './field.js';
import { type FieldRule, rulesOf } from './fieldRules.js';
import { isNode, Node } from './node.js';
import { DateOrDateTime, DateTime, Day as DayScalar, Decimal, Json, JsonObject as JsonObjectScalar } from './scalars.js';
import { declareScope } from './scopes.js';

export { oneOf } from './enums.js';
export { type Class, field } from './field.js';

/** The fewest items of a list, for the document: whoever takes it refuses fewer, in words of its own and in its turn. */
type Fewest = { min?: number };

/** A line of text of at most `max` characters (code points), and of at least `min`. */
export const Text = (max: number, description: string, { min, ...options }: Options & { min?: number } = {}) =>
  field(description, options, { type: () => String, check: values.text(max, min), schema: { maxLength: max, minLength: min } });

/** A text of at most `kilobytes`, else 413; that of a file is not trimmed. */
export const LongText = (kilobytes: number, description: string, { isFile, ...options }: Options & { isFile?: boolean } = {}) =>
  field(description, options, { type: () => String, isLong: true, check: (isFile ? values.fileText : values.longText)(kilobytes * 1024) });

// The formats `email` and `uri` of JSON Schema are of ASCII alone, and `idn-email` and `iri` are unknown to most readers: words say it.
const anAddress = {
  maxLength: 254,
  examples: ['ada@example.com'],
  description: 'one address alone, before and behind its @ letters of any script',
};

/** An e-mail address, kept as sent and compared whatever its case. */
export const Email = (description: string, options: Options = {}) =>
  field(description, options, { type: () => String, isCaseless: true, check: values.email, schema: anAddress });

/** A text that is looked at by whom it concerns: nothing that it says is refused. */
export const Anything = (description: string) => field(description, {}, { type: () => String, check: values.any });

/** A phone number, kept as E.164; a national one is read with the account's country. */
export const Phone = (description: string, options: Options = {}) =>
  field(description, options, { type: () => String, check: values.phone, schema: { maxLength: 30 } });

/** At most `max` keys of a telephone, one after the other. */
export const PhoneKeys = (max: number, description: string, options: Options = {}) =>
  field(description, options, {
    type: () => String,
    list: true,
    check: values.list(max, values.oneOf(values.phoneKeys)),
    schema: { maxItems: max, items: { type: 'string', enum: values.phoneKeys } },
  });

/** A secret typed by a person: never trimmed, 8 to 256 characters where it is new. */
export const Secret = (min: number, description: string) =>
  field(
    description,
    { required: true },
    { type: () => String, check: values.secret(min), schema: { minLength: min, maxLength: 256, format: 'password' } },
  );

const anUrl = { examples: ['https://example.com/hook'], description: 'http or https, as browsers take it: letters of any script' };

/** An http(s) address. */
export const Url = (max: number, description: string, options: Options = {}) =>
  field(description, options, { type: () => String, check: values.url(max), schema: { maxLength: max, ...anUrl } });

/** A colour, `#RRGGBB`. */
export const Color = (description: string, options: Options = {}) =>
  field(description, options, { type: () => String, check: values.color, schema: { pattern: '^#[0-9A-Fa-f]{6}$' } });

/** A currency by its ISO 4217 code, in capitals. */
export const Currency = (description: string, options: Options = {}) =>
  field(description, options, { type: () => String, check: values.currency, schema: { pattern: '^[A-Za-z]{3}$' } });

/** A time zone by its IANA name: Europe/Berlin. */
export const TimeZone = (description: string, options: Options = {}) =>
  field(description, options, { type: () => String, check: values.timeZone, schema: { maxLength: 64 } });

/** A country by its two letters: DE. */
export const Country = (description: string, options: Options = {}) =>
  field(description, options, { type: () => String, check: values.country, schema: { pattern: '^[A-Za-z]{2}$' } });

/** The id of another record of the account; the database refuses one that is not there. */
export const Ref = (description: string, options: Options = {}) =>
  field(description, options, { type: () => ID, check: values.uuid, schema: { format: 'uuid' } });

/** At most `max` ids. */
export const Refs = (max: number, description: string, { min, ...options }: Options & Fewest = {}) =>
  field(description, options, {
    type: () => ID,
    list: true,
    check: values.list(max, values.uuid),
    schema: { maxItems: max, minItems: min, items: { type: 'string', format: 'uuid' } },
  });

/** At most `maxItems` texts of at most `max` characters each. */
export const Texts = (
  maxItems: number,
  max: number,
  description: string,
  { orOne, min, ...options }: Options & Fewest & { orOne?: boolean } = {},
) =>
  field(description, options, {
    type: () => String,
    list: true,
    orOne,
    check: values.list(maxItems, values.text(max)),
    schema: { maxItems, minItems: min, items: { type: 'string', maxLength: max } },
  });

/**
 * One of the members of an enumeration made by `oneOf`, or of plain words that GraphQL cannot name ("1-10"). `spellings` are other
 * words that REST takes for one of them.
 */
export const OneOf = (
  members: readonly string[] | Record<string, string>,
  description: string,
  { spellings, ...options }: Options & { spellings?: Record<string, string> } = {},
) =>
  Array.isArray(members)
    ? field(description, options, { type: () => String, check: values.oneOf(members), schema: { enum: members } })
    : field(description, options, {
        type: () => members,
        check: values.any,
        spellings,
        schema: { enum: [...Object.values(members), ...Object.keys(spellings ?? {})] },
      });

/** Several of the members of an enumeration made by `oneOf`, each one at most once. */
export const SomeOf = (members: Record<string, string>, description: string, { min, ...options }: Options & Fewest = {}) =>
  field(description, options, {
    type: () => members,
    list: true,
    check: (...given) => values.list(Object.keys(members).length, values.any)(...given),
    schema: { minItems: min, items: schemaOf(members) },
  });

export const Flag = (description: string, options: Options = {}) => field(description, options, { type: () => Boolean, check: values.any });

type Bounds = { min?: number; max?: number };
const within = ({ min, max }: Bounds) => ({ check: values.between(min, max), schema: { minimum: min, maximum: max } });

export const Count = (description: string, options: Options & Bounds = {}) =>
  field(description, options, { type: () => Int, ...within(options) });

export const Fraction = (description: string, options: Options & Bounds = {}) =>
  field(description, options, { type: () => Float, ...within(options) });

/** An exact decimal with at most `scale` places; more are refused, or `rounded`. One of two places is an amount. */
export const Money = (description: string, options: Options & { scale?: number; rounded?: boolean; min?: number; max?: number } = {}) => {
  const { scale = 2, rounded, min, max } = options;
  return field(description, options, {
    type: () => Decimal,
    exact: scale === 2,
    check: values.decimal({ scale, rounded, min, max }),
    schema: { minimum: min, maximum: max },
  });
};

/** An instant with an offset. */
export const Instant = (description: string, options: Options = {}) =>
  field(description, options, { type: () => DateTime, check: values.instant });

/** An instant that is also written as a day: then it is that day's end in the workspace's time zone. */
export const Deadline = (description: string, options: Options = {}) =>
  field(description, options, { type: () => DateTime, input: () => DateOrDateTime, check: values.deadline });

/** A calendar day, YYYY-MM-DD. */
export const Day = (description: string, options: Options = {}) =>
  field(description, options, { type: () => DayScalar, check: values.calendarDay });

/** One end of a date range: a day or an instant. */
export const Moment = (description: string) =>
  field(description, {}, { type: () => DateOrDateTime, check: values.moment, schema: { description: 'YYYY-MM-DD or ISO 8601 date-time' } });

/** A JSON object of at most `kilobytes`, else 413. */
export const JsonObject = (kilobytes: number, description: string, options: Options = {}) =>
  field(description, options, { type: () => JsonObjectScalar, check: values.jsonObject(kilobytes * 1024), schema: { type: 'object' } });

/** Any JSON value of at most `kilobytes`, else 413. */
export const JsonValue = (kilobytes: number, description: string, options: Options = {}) =>
  field(description, options, { type: () => Json, check: values.jsonObject(kilobytes * 1024) });

/** An object type inside a record, and its input type. */
export const Nested = (type: () => Class, input: () => Class, description: string, options: Options & Fewest & { list?: number } = {}) =>
  field(description, options, {
    type,
    input,
    list: options.list !== undefined,
    check: nestedCheck(input, options.list),
    schema: options.list === undefined ? {} : { maxItems: options.list, minItems: options.min },
  });

function nestedCheck(input: () => Class, max?: number): values.Check {
  const each: values.Check = (value, at, report, scope) => cleanObject(input(), value as Record<string, unknown>, `${at}.`, report, scope);
  return max === undefined ? each : values.list(max, each);
}

/** Read-only: the record's id; the schema says whose. */
export const Id = () => field('', { required: true }, { type: () => ID, isIdentity: true, check: values.any, schema: { format: 'uuid' } });
/** Read-only: a position in the account's feed. */
export const Position = (description: string) =>
  field(description, { required: true }, { type: () => ID, check: values.any, schema: { pattern: '^[0-9]+$' } });
/** Read-only: an instant that the server sets. */
export const Stamp = (description: string, options: Options = { required: true }) => Instant(description, options);

interface EntityOptions {
  /** What a key needs to read it. */
  scope?: string;
  /** The fields that a key without that scope reads too, wherever a record that it may read leads here. */
  alongside?: readonly string[];
  /** The interface that it has, where it is no record. */
  implements?: Class;
}

/** The exact form of an amount: text, for what a number of JavaScript cannot hold. */
function declareExact(prototype: object, { name, required, description }: FieldRule) {
  const exactly = `${name}Exact`;
  Field(() => String, { nullable: !required, description: `The same exactly, as text. ${description}` })(prototype, exactly);
  Extensions({ exactOf: name })(prototype, exactly);
}

/** A record type of both APIs. */
export function Entity(description: string, { scope, alongside, implements: common }: EntityOptions = {}): ClassDecorator {
  return (target) => {
    ObjectType({ description, implements: isNode(target) ? Node : common })(target);
    for (const rule of rulesOf(target)) if (rule.exact) declareExact(target.prototype as object, rule);
    if (!scope) return;
    declareScope(scope);
    Extensions({ scope, alongside })(target as never);
  };
}

/** An input type. */
export const Input = (description?: string): ClassDecorator => InputType({ description });

type Nullable<T> = { [K in keyof T]: null extends T[K] ? K : never }[keyof T];
export type DraftOf<T> = Omit<T, Nullable<T>> & Partial<Pick<T, Nullable<T>>>;

/**
 * The fields of a record as its create input: what is required stays required, the rest may be left out, and null is the same as
 * to leave it out, so that a default holds.
 */
export function Draft<T extends object>(base: Class<T>): new () => DraftOf<T> {
  const rules = rulesOf(base).map((rule) => ({ ...rule, nullIsAbsent: !rule.required || rule.optional }));
  return inputFrom(rules, (rule) => !rule.required || rule.optional) as new () => DraftOf<T>;
}

/** The fields of a create input as its update input: everything may be left out, only what was nullable may be null. */
export function Edit<T extends object>(base: Class<T>): new () => Partial<Omit<T, 'id'>> {
  return inputFrom(changing(base), () => true) as new () => Partial<Omit<T, 'id'>>;
}

/** Some fields of a create input as its update input: each may be left out, only what was nullable may be null. */
export function EditOf<T extends object, K extends keyof T & string>(base: Class<T>, ...names: K[]): new () => Partial<Pick<T, K>> {
  const rules = changing(base).filter(({ name }) => (names as string[]).includes(name));
  return inputFrom(rules, () => true) as new () => Partial<Pick<T, K>>;
}

/** The rules of a class for a change, in which null is a value of its own. */
const changing = (base: object) =>
  rulesOf(base)
    .filter(({ isOwnId }) => !isOwnId)
    .map((rule) => ({ ...rule, nullIsAbsent: false, given: undefined }));

function inputFrom(rules: FieldRule[], nullable: (rule: FieldRule) => boolean) {
  class Fields {}
  for (const rule of rules) declare(Fields.prototype, rule, 'input', nullable(rule));
  InputType({})(Fields);
  return Fields;
}

/** A resolver's input argument: cleaned and checked by its class's rules before the resolver runs. */
export const In = (name = 'input', options: { nullable?: boolean } = {}): ParameterDecorator =>
  ((target: object, method: string, index: number) => {
    const type = (Reflect.getMetadata('design:paramtypes', target, method) as Class[])[index]!;
    const validateFn = (value: object | undefined, _type: unknown, { context }: { context: object }) =>
      clean(type, value, context as values.CheckScope);
    Arg(name, () => type as never, { ...options, validateFn: validateFn as never })(target, method, index);
  }) as ParameterDecorator;

/** A resolver's arguments besides its id, one by one: a class of them, cleaned and checked by its rules before the resolver runs. */
export const Arguments = (): ParameterDecorator =>
  ((target: object, method: string, index: number) => {
    const validateFn = (args: object | undefined, type: unknown, { context }: { context: object }) =>
      clean(type as Class, args, context as values.CheckScope);
    Args({ validateFn: validateFn as never })(target, method, index);
  }) as ParameterDecorator;
