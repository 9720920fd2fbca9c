import {
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { badRequest, type Detail, detailOf, invalid, notOneOf } from '../kernel/base/errors.js';
import { isRenamed, nameOf, wordsOf } from '../kernel/model/enums.js';
import type { FieldRule } from '../kernel/model/fieldRules.js';
import { inClientNames } from './errors.js';

/** A JSON body as the input of an operation, and what it has that the input does not know. */
export interface AdaptedBody {
  input: Record<string, unknown>;
  /** Members that were left out, by their path. */
  ignored: string[];
  /** The client's name of each member that came under another one, for the messages. */
  names: ReadonlyMap<string, string>;
}

interface Notes {
  ignored: string[];
  faults: Detail[];
}

/**
 * Members that the input does not know are left out and named. Throws 400 naming every list field, as the client calls it, that holds
 * anything else: GraphQL's coercion would read a single value as a list of one, and one word for all tags of a contact.
 */
export function adaptBody(type: GraphQLInputObjectType, body: unknown, aliases: Record<string, string> = {}): AdaptedBody {
  const given = body === undefined ? {} : body;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw badRequest('The body must be a JSON object');
  const notes: Notes = { ignored: [], faults: [] };
  const names = new Map<string, string>();
  const named = Object.entries(given).map(([name, value]) => {
    const member = Object.hasOwn(aliases, name) ? aliases[name]! : name;
    // Of several names of one member the last counts.
    if (member !== name || names.has(member)) names.set(member, name);
    return [member, value];
  });
  const input = known(type, Object.fromEntries(named), '', notes);
  if (notes.faults.length > 0) throw inClientNames(invalid(notes.faults.slice(0, 100)), names);
  return { input, ignored: notes.ignored, names };
}

/** The id that a client may choose is GraphQL's alone: the contract has no such member. */
export const ofRest = <F extends Pick<GraphQLInputField, 'extensions'>>(field: F | undefined): F | undefined =>
  (field?.extensions.rule as FieldRule | undefined)?.isOwnId ? undefined : field;

function known(type: GraphQLInputObjectType, given: Record<string, unknown>, prefix: string, notes: Notes) {
  const fields = type.getFields();
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const field = ofRest(fields[name]);
    const said = typeof value === 'string' ? meant((field?.extensions.rule ?? {}) as Partial<FieldRule>, value) : value;
    if (field) kept[name] = inside(field.type, said, `${prefix}${name}`, notes);
    else notes.ignored.push(`${prefix}${name}`);
  }
  return kept;
}

/** What a text stands for in a field that has other spellings, or takes a list as one text. */
const meant = ({ spellings, orOne }: Partial<FieldRule>, text: string): unknown =>
  orOne ? listed(text) : spellings && Object.hasOwn(spellings, text) ? spellings[text] : text;

/** The items of a text with commas between them; null where all are empty. */
function listed(text: string): string[] | null {
  const items = text.split(',').map((item) => item.trim());
  const given = items.filter((item) => item !== '');
  return given.length > 0 ? given : null;
}

function inside(declared: GraphQLInputType, value: unknown, at: string, notes: Notes): unknown {
  const type = getNullableType(declared);
  if (value === null) return null;
  if (isListType(type)) {
    if (Array.isArray(value)) return value.map((item, i) => inside(type.ofType, item, `${at}.${i}`, notes));
    notes.faults.push({ field: at, code: 'invalid_type', message: 'must be a list' });
    return value;
  }
  if (isEnumType(type) && isRenamed(type) && typeof value === 'string' && value !== '') return named(type, value, at, notes);
  const isObject = typeof value === 'object' && !Array.isArray(value);
  return isInputObjectType(type) && isObject ? known(type, value as Record<string, unknown>, `${at}.`, notes) : value;
}

/** GraphQL's name for a word of an enumeration. */
function named(type: GraphQLEnumType, word: string, at: string, { faults }: Notes): string {
  const words = wordsOf(type);
  if (!words.includes(word)) faults.push(detailOf(at, notOneOf(words)));
  return nameOf(word);
}
