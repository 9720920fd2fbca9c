import { type GraphQLInputType, getNamedType, getNullableType, isEnumType, isListType } from 'graphql';
import { type Fault, notOneOf } from '../kernel/base/errors.js';
import { nameOf, wordsOf } from '../kernel/model/enums.js';

/** What a query string says of one parameter. */
export interface QueryParameter {
  /** As the client wrote it, for the messages: `cf[tier]`. */
  written: string;
  /** Under its name, or `name[]`. */
  texts: string[];
  /** Under a number, as some clients write lists: `name[0]`. */
  items: string[];
  /** Under a key: `name[key]`. */
  members: [key: string, value: unknown][];
}

type Report = (fault: Fault) => void;
/** Whether a query string knows a parameter, and of which type it is. */
type TypeOf = (name: string) => GraphQLInputType | undefined;

const wrongType = (message: string): Fault => ({ code: 'invalid_type', message });
const givenTwice = wrongType('must be given once');

const isObject = (type: GraphQLInputType) => getNamedType(type).name === 'JSONObject';

/**
 * Every known parameter that a query string gives. Its name may be followed by brackets: `[]`, as some clients write the items of a
 * list; a number in them, of a list; a key, of an object. Other brackets are reported under the parameter as it is written. What is
 * unknown or empty is left out.
 */
export function askedIn(
  query: Record<string, unknown>,
  typeOf: TypeOf,
  report: (written: string, fault: Fault) => void,
): Map<string, QueryParameter> {
  const all = new Map<string, QueryParameter>();
  for (const [key, given] of Object.entries(query)) {
    const written = key.endsWith('[]') ? key.slice(0, -2) : key;
    const start = written.indexOf('[');
    const name = start < 0 ? written : written.slice(0, start);
    const type = typeOf(name);
    if (!type || given === '') continue;
    const before = all.get(name);
    const asked = before ? Object.assign(before, { written: name }) : { written, texts: [], items: [], members: [] };
    const fault = take(asked, written.slice(name.length), given as string | string[], type);
    if (fault) report(written, fault);
    else all.set(name, asked);
  }
  return all;
}

/** Takes what stands under a name and its brackets, or answers why it cannot. */
function take(asked: QueryParameter, brackets: string, given: string | string[], type: GraphQLInputType): Fault | undefined {
  const isList = isListType(getNullableType(type));
  const key = /^\[([^[\]]+)\]$/.exec(brackets)?.[1];
  if (brackets === '') asked.texts.push(...[given].flat());
  else if (key && isList && /^\d+$/.test(key)) asked.items.push(...[given].flat());
  else if (key && isObject(type)) asked.members.push([key, given]);
  else if (isList) return wrongType('must be a list: its items with commas between them, or each under its name');
  else if (isObject(type)) return wrongType('must be a JSON object, or its members, each with its key in brackets');
  else return wrongType('must be one value, without brackets');
  return undefined;
}

/** What a parameter is: its type, and its words where they are some that GraphQL does not know. */
interface Declared {
  type: GraphQLInputType;
  words?: readonly string[];
}

/** The value of a parameter by what it is declared as. */
export function valueFor({ texts, items, members }: QueryParameter, declared: Declared, report: Report): unknown {
  const [type, { words = [] }] = [getNullableType(declared.type), declared];
  if (isListType(type)) {
    const parts = texts.length === 1 && items.length === 0 ? texts[0]!.split(',') : [...texts, ...items];
    const once = onceOf(report);
    return parts.filter((part) => part.trim() !== '').map((part) => fromText(part, type.ofType, words, once));
  }
  if (texts.length > 1) return report(givenTwice);
  const value = texts.length === 1 ? fromText(texts[0]!, type, words, report) : {};
  return members.length > 0 ? { ...(value as object | undefined), ...Object.fromEntries(members) } : value;
}

/** Reports the first fault alone: each of a thousand items would tell all the words that it may be. */
function onceOf(report: Report): Report {
  let isReported = false;
  return (fault) => {
    if (!isReported) report(fault);
    isReported = true;
  };
}

/** What may be given once; undefined where it is not given. */
export function onlyText(asked: QueryParameter | undefined, report: Report): string | undefined {
  if (asked && asked.texts.length > 1) report(givenTwice);
  return asked?.texts[0] || undefined;
}

/** The word that a text is. A plus that was not escaped comes as a blank. */
const wordIn = (words: readonly string[], text: string) =>
  words.find((word) => word === text.trim()) ?? words.find((word) => word.includes('+') && word.replaceAll('+', ' ') === text);

function fromText(given: string, declared: GraphQLInputType, words: readonly string[], report: Report): unknown {
  const type = getNullableType(declared);
  const text = given.trim();
  if (isEnumType(type)) {
    const known = wordsOf(type);
    const word = wordIn(known, given);
    return word === undefined ? report(notOneOf(known)) : nameOf(word);
  }
  const parse = parsers[getNamedType(type).name];
  return parse ? parse(text, report) : (wordIn(words, given) ?? text);
}

type Parse = (text: string, report: Report) => unknown;
const truths = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

const parsers: Record<string, Parse> = {
  Int: (text, report) =>
    /^-?\d{1,10}$/.test(text) && Math.abs(Number(text)) < 2 ** 31 ? Number(text) : report(wrongType('must be an integer')),
  Float: (text, report) => (/^-?\d{1,30}(\.\d{1,30})?$/.test(text) ? Number(text) : report(wrongType('must be a number'))),
  Boolean: (text, report) => truths.get(text.toLowerCase()) ?? report(wrongType('must be true or false')),
  JSONObject: (text, report) => {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    } catch {
      // answered below, with what else is no object
    }
    return report(wrongType('must be a JSON object'));
  },
};
