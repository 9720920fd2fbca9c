import {
  type GraphQLArgument,
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
} from 'graphql';
import { type Detail, detailOf, type Fault, invalid, notOneOf } from '../kernel/base/errors.js';
import type { AnyTable } from '../kernel/lists/table.js';
import { isConnection, maxPageSize } from '../kernel/model/connection.js';
import { nameOf, wordsOf } from '../kernel/model/enums.js';
import type { Row } from '../kernel/module/routes.js';

/** Where a query parameter goes: `['filter', 'assignedTo']`, and its type. */
export interface Source {
  path: string[];
  type: GraphQLInputType;
  /** Of a sort: the direction where none is said, by the contract the list's own whatever the key. */
  order?: string;
}

/** assignedTo → assigned_to. */
export const snakeName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Whether REST knows an argument of a list: not its typed conditions, for which it has `filters`, nor several keys. */
export const isOfRest = ({ name }: { name: string }): boolean => name !== 'where' && name !== 'orderBy';

const isParameter = (arg: GraphQLArgument) => isOfRest(arg) && !arg.deprecationReason;

/** Every query parameter of a list: its filter fields in snake_case and camelCase, the row's own aliases, and paging; none that is deprecated. */
export function querySources(field: GraphQLField<unknown, unknown>, row: Row, address: string): Map<string, Source> {
  const sources = new Map<string, Source>();
  const byPath = new Map<string, Source>();
  for (const arg of field.args.filter(isParameter)) {
    const inner = getNamedType(arg.type);
    if (arg.name === 'filter' && isInputObjectType(inner)) {
      for (const member of Object.values(inner.getFields())) {
        const source = { path: ['filter', member.name], type: member.type };
        byPath.set(`filter.${member.name}`, source);
        sources.set(snakeName(member.name), source).set(member.name, source);
      }
    } else {
      const source = sourceOf(arg, field);
      byPath.set(arg.name, source);
      if (isTakenAs(arg.name, row)) sources.set(arg.name, source);
    }
  }
  dropFixed(sources, row);
  for (const [alias, path] of Object.entries(row.query ?? {})) {
    const source = byPath.get(path);
    if (!source) throw new Error(`${address}: the alias ${alias} hits no argument`);
    sources.set(alias, source);
  }
  if (row.minimal) sources.set('minimal', { path: ['minimal'], type: GraphQLBoolean });
  for (const name of Object.keys(row.extras ?? {})) sources.set(name, { path: [name], type: GraphQLBoolean });
  if (row.include) sources.set('include', { path: ['include'], type: new GraphQLList(includable(row.include)) });
  return sources;
}

/** Where an argument of a list comes from. */
const sourceOf = ({ name, type }: GraphQLArgument, list: GraphQLField<unknown, unknown>): Source => ({
  ...{ path: [name], type: name === totalCount ? countable : type },
  order: name === 'sort' ? ownOrder(list) : undefined,
});

const paged = ['first', 'after', 'last', 'before', 'page', 'perPage'];

/** Whether a row takes an argument under its name: paging has names of its own, and how the total is found only where it is shown. */
function isTakenAs(name: string, { path, as, pagingHeaders, operation }: Row): boolean {
  if (name === totalCount) return operation !== undefined && (as !== 'bare' || Boolean(pagingHeaders));
  return !paged.includes(name) && !path.includes(`{${name}}`);
}

/** What a row gives by itself is no parameter. */
function dropFixed(sources: Map<string, Source>, { fixed = {} }: Row): void {
  for (const [name, { path }] of [...sources]) if (path.join('.') in fixed) sources.delete(name);
}

/** The direction in which a list is sorted by itself. */
function ownOrder({ type }: GraphQLField<unknown, unknown>): string | undefined {
  const page = getNamedType(type);
  const record = isConnection(page) ? getNamedType(page.getFields().nodes!.type) : undefined;
  return (record?.extensions.table as AnyTable | undefined)?.options.byDefault[1];
}

/** The members of an input as query parameters, in snake_case and camelCase. */
export function inputSources(field: GraphQLField<unknown, unknown>): Map<string, Source> {
  const type = getNamedType(field.args.find((arg) => arg.name === 'input')!.type) as GraphQLInputObjectType;
  const sources = Object.values(type.getFields()).map((member): [string, Source] => [
    member.name,
    { path: ['input', member.name], type: member.type },
  ]);
  return new Map(sources.flatMap(([name, source]) => [[snakeName(name), source] as const, [name, source] as const]));
}

/** `name[]=` is `name=`, as some clients write the items of a list. */
function withoutBrackets(query: Record<string, unknown>): Record<string, unknown> {
  const plain = Object.create(null) as Record<string, unknown>;
  for (const [written, given] of Object.entries(query)) {
    const name = written.endsWith('[]') ? written.slice(0, -2) : written;
    plain[name] = plain[name] === undefined ? given : [plain[name], given].flat();
  }
  return plain;
}

/** The members of an input that a query string gives, and under which names. Throws 400 naming every parameter at fault. */
export function adaptInput(sources: ReadonlyMap<string, Source>, asked: Record<string, unknown>) {
  const query = withoutBrackets(asked);
  const details: Detail[] = [];
  const input: Record<string, unknown> = {};
  const names = new Map<string, string>();
  for (const [name, text] of Object.entries(query)) {
    const source = sources.get(name);
    if (!source || text === '') continue;
    const member = source.path[1]!;
    input[member] = fromText(text, source.type, (fault) => details.push(detailOf(name, fault)));
    names.set(member, name);
  }
  if (details.length > 0) throw invalid(details);
  return { input, names };
}

/** The argument that says how a list's total is found. */
export const totalCount = 'count';
/** A document of REST asks for the total, so that a query string says where it is not wanted. */
export const countable = new GraphQLEnumType({ name: 'Count', values: { exact: {}, estimated: {}, none: {} } });

const includable = (include: object) =>
  new GraphQLEnumType({ name: 'Include', values: Object.fromEntries(Object.keys(include).map((name) => [name, {}])) });

/** The variable of a row's document that says whether the total of its list is answered. */
export const totalVariable = 'withTotal';

/** The variable of a row's document that says whether a relation is included. */
export const includeVariable = (name: string) => `include_${name}`;

const smallPage = 100;

/** Page size and position as the operation's arguments. per_page wins over limit; both are cut to their maximum. */
function paging(query: Record<string, unknown>, details: Detail[], hasPages: boolean) {
  const whole = (name: string) => {
    const text = query[name];
    if (text === undefined || text === '') return undefined;
    const value = typeof text === 'string' && /^\d+$/.test(text) ? Math.min(Number(text), 2 ** 31 - 1) : 0;
    if (value < 1)
      details.push(
        detailOf(name, Array.isArray(text) ? givenTwice : { code: 'out_of_range', message: 'must be an integer of at least 1' }),
      );
    return value;
  };
  const [perPage, limit, page] = [whole('per_page'), whole('limit'), whole('page')];
  const size = perPage ? Math.min(perPage, maxPageSize) : limit ? Math.min(limit, smallPage) : undefined;
  if (page !== undefined && !hasPages)
    details.push(detailOf('page', { code: 'not_allowed', message: 'is not taken here: go on with the cursor of the page before' }));
  const after = typeof query.cursor === 'string' && query.cursor !== '' ? query.cursor : undefined;
  if (after && page) details.push(detailOf('page', { code: 'conflicting', message: 'and cursor exclude each other' }));
  return { page, perPage: size, after };
}

export interface Adapted {
  variables: Record<string, unknown>;
  /** The client's name of each field, for the messages. */
  names: Map<string, string>;
}

/** A query string as the operation's variables; `hasPages` where the list is paged by number too. Throws 400 naming every parameter at fault. */
export function adaptQuery(sources: ReadonlyMap<string, Source>, asked: Record<string, unknown>, hasPages = true): Adapted {
  const query = withoutBrackets(asked);
  const details: Detail[] = [];
  const { page, perPage, after } = paging(query, details, hasPages);
  const filter: Record<string, unknown> = {};
  const variables: Record<string, unknown> = { filter, page, perPage, after };
  const names = new Map([
    ['perPage', 'per_page'],
    ['after', 'cursor'],
  ]);
  const bracketed: Record<string, Record<string, unknown>> = {};
  for (const [name, text] of Object.entries(query)) {
    const [, base, key] = /^([^[\]]+)\[([^[\]]+)\]$/.exec(name) ?? [];
    const source = sources.get(base ?? name);
    if (!source || text === '') continue;
    const target = source.path.length === 2 ? filter : variables;
    const field = source.path.at(-1)!;
    names.set(field, name);
    if (base && key) {
      bracketed[field] ??= Object.create(null) as Record<string, unknown>;
      bracketed[field][key] = text;
      target[field] = { ...bracketed[field] };
    } else target[field] = fromText(text, source.type, (fault) => details.push(detailOf(name, fault)));
  }
  if (details.length > 0) throw invalid(details);
  if (variables.sort) variables.order ??= sources.get('sort')?.order;
  const { include, [totalCount]: count, ...rest } = variables;
  const included = ((include ?? []) as string[]).map((name) => [includeVariable(name), true]);
  const total = count === 'none' ? { [totalVariable]: false } : { [totalCount]: count };
  return { variables: { ...rest, ...total, ...Object.fromEntries(included) }, names };
}

/** The arguments of a list with those that its row gives by itself. */
export function withFixed({ fixed = {} }: Row, variables: Record<string, unknown>): Record<string, unknown> {
  const given: Record<string, unknown> = { ...variables };
  for (const [path, value] of Object.entries(fixed)) {
    const [outer, inner] = path.split('.') as [string, string?];
    given[outer] = inner ? { ...(given[outer] as object), [inner]: value } : value;
  }
  return given;
}

const givenTwice: Fault = { code: 'invalid_type', message: 'must be given once' };

type Report = (fault: Fault) => void;

function fromText(given: unknown, declared: GraphQLInputType, report: Report): unknown {
  const type = getNullableType(declared);
  if (isListType(type)) {
    const parts = Array.isArray(given) ? given.map(String) : String(given).split(',');
    return parts
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => fromText(part, type.ofType, report));
  }
  if (Array.isArray(given)) return report(givenTwice);
  const text = String(given).trim();
  if (isEnumType(type)) {
    const words = wordsOf(type);
    return words.includes(text) ? nameOf(text) : report(notOneOf(words));
  }
  const parse = parsers[getNamedType(type).name];
  return parse ? parse(text, report) : text;
}

type Parse = (text: string, report: Report) => unknown;
const wrongType = (message: string): Fault => ({ code: 'invalid_type', message });
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
