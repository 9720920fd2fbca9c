import {
  type GraphQLArgument,
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLString,
  getNamedType,
  isEnumType,
  isInputObjectType,
} from 'graphql';
import { type Detail, detailOf, type Fault, invalid } from '../kernel/base/errors.js';
import { isConnection, maxPageSize } from '../kernel/model/connection.js';
import type { FieldRule } from '../kernel/model/fieldRules.js';
import type { Endpoint } from '../kernel/module/routes.js';
import type { AnyTable } from '../kernel/tables/table.js';
import { askedIn, onlyText, type QueryParameter, valueFor } from './query.values.js';

/** Where a query parameter goes: `['filter', 'assignedTo']`, and its type. */
export interface ParameterTarget {
  path: string[];
  type: GraphQLInputType;
  /** What it may be, where its type does not say so. */
  words?: readonly string[];
  /** Of a sort: the direction where none is said, by the contract the list's own whatever the key. */
  order?: string;
  /** Of a sort and its direction: what the list goes by where neither is said, if that is one of its sort keys. */
  byDefault?: string;
  /** Whether a filter of the list may say another one. */
  isByFilter?: boolean;
}

/** assignedTo → assigned_to. */
export const snakeName = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Whether REST knows an argument of a list: not its typed conditions, for which it has `filters`, nor several keys. */
export const isOfRest = ({ name }: { name: string }): boolean => name !== 'where' && name !== 'orderBy';

const isParameter = (arg: GraphQLArgument) => isOfRest(arg) && !arg.deprecationReason;

/**
 * Every query parameter of a list: its filter fields in snake_case and camelCase, the endpoint's own aliases, and paging; none that is
 * deprecated.
 */
export function queryTargets(field: GraphQLField<unknown, unknown>, endpoint: Endpoint, address: string): Map<string, ParameterTarget> {
  const targets = new Map<string, ParameterTarget>();
  const byPath = new Map<string, ParameterTarget>();
  for (const arg of field.args.filter(isParameter)) {
    const inner = getNamedType(arg.type);
    if (arg.name === 'filter' && isInputObjectType(inner)) {
      for (const member of Object.values(inner.getFields())) {
        const target = { path: ['filter', member.name], type: member.type, words: wordsFor(member) };
        byPath.set(`filter.${member.name}`, target);
        targets.set(snakeName(member.name), target).set(member.name, target);
      }
    } else {
      const target = targetOf(arg, field);
      byPath.set(arg.name, target);
      if (isTakenAs(arg.name, endpoint)) targets.set(arg.name, target);
    }
  }
  dropFixed(targets, endpoint);
  for (const [alias, path] of Object.entries(endpoint.query ?? {})) {
    const target = byPath.get(path);
    if (!target) throw new Error(`${address}: the alias ${alias} matches no argument`);
    targets.set(alias, target);
  }
  if (endpoint.minimal) targets.set('minimal', { path: ['minimal'], type: GraphQLBoolean });
  for (const name of Object.keys(endpoint.extras ?? {})) targets.set(name, { path: [name], type: GraphQLBoolean });
  if (endpoint.include) targets.set('include', { path: ['include'], type: new GraphQLList(includable(endpoint.include)) });
  return targets;
}

/** An argument of a list as what a query parameter becomes. */
const targetOf = ({ name, type }: GraphQLArgument, list: GraphQLField<unknown, unknown>): ParameterTarget => ({
  path: [name],
  type: name === totalCount ? countable : type,
  order: name === 'sort' ? ownOrder(list)?.[1] : undefined,
  byDefault: saidByDefault(name, list),
  isByFilter: tableOf(list)?.options.isSortedByFilter,
});

/** The words of which a text is one, by the line of its model. */
function wordsFor({ extensions }: GraphQLInputField): readonly string[] | undefined {
  const { schema } = (extensions.rule ?? {}) as Partial<FieldRule>;
  return (schema?.enum ?? (schema?.items as { enum?: unknown } | undefined)?.enum) as readonly string[] | undefined;
}

const paged = ['first', 'after', 'last', 'before', 'page', 'perPage'];

/** Whether an endpoint takes an argument under its name: paging has names of its own, and how the total is found only where it is shown. */
function isTakenAs(name: string, { path, as, pagingHeaders, operation }: Endpoint): boolean {
  if (name === totalCount) return operation !== undefined && (as !== 'bare' || Boolean(pagingHeaders));
  return !paged.includes(name) && !path.includes(`{${name}}`);
}

/** What an endpoint gives by itself is no parameter. */
function dropFixed(targets: Map<string, ParameterTarget>, { fixed = {} }: Endpoint): void {
  for (const [name, { path }] of [...targets]) if (path.join('.') in fixed) targets.delete(name);
}

function tableOf({ type }: GraphQLField<unknown, unknown>): AnyTable | undefined {
  const page = getNamedType(type);
  const record = isConnection(page) ? getNamedType(page.getFields().nodes!.type) : undefined;
  return record?.extensions.table as AnyTable | undefined;
}

/** What a list is sorted by of itself, and in which direction. */
const ownOrder = (list: GraphQLField<unknown, unknown>): readonly [string, string] | undefined => tableOf(list)?.options.byDefault;

function saidByDefault(name: string, list: GraphQLField<unknown, unknown>): string | undefined {
  const [sort, order] = ownOrder(list) ?? [];
  const keys = getNamedType(list.args.find((arg) => arg.name === 'sort')?.type);
  const isKey = isEnumType(keys) && keys.getValues().some((key) => key.name === sort);
  return isKey ? { sort, order }[name] : undefined;
}

/** The members of an input as query parameters, in snake_case and camelCase. */
export function inputTargets(field: GraphQLField<unknown, unknown>): Map<string, ParameterTarget> {
  const type = getNamedType(field.args.find((arg) => arg.name === 'input')!.type) as GraphQLInputObjectType;
  const targets = Object.values(type.getFields()).map((member): [string, ParameterTarget] => [
    member.name,
    { path: ['input', member.name], type: member.type, words: wordsFor(member) },
  ]);
  return new Map(targets.flatMap(([name, target]) => [[snakeName(name), target] as const, [name, target] as const]));
}

/** The members of an input that a query string gives, and under which names. Throws 400 naming every parameter at fault. */
export function adaptInput(targets: ReadonlyMap<string, ParameterTarget>, query: Record<string, unknown>) {
  const details: Detail[] = [];
  const report = (name: string, fault: Fault) => void details.push(detailOf(name, fault));
  const input: Record<string, unknown> = {};
  const names = new Map<string, string>();
  for (const [name, asked] of askedIn(query, (known) => targets.get(known)?.type, report)) {
    const { path, type, words } = targets.get(name)!;
    const member = path[1]!;
    input[member] = valueFor(asked, { type, words }, (fault) => report(asked.written, fault));
    names.set(member, asked.written);
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

/** The variable of an endpoint's document that says whether the total of its list is answered. */
export const totalVariable = 'withTotal';

/** The variable of an endpoint's document that says whether a relation is included. */
export const includeVariable = (name: string) => `include_${name}`;

/** What a page has at most whose size is given as `limit`. */
export const smallPage = 100;

/** The parameters of paging, which stand beside those of the list. */
const ofPaging = new Set(['page', 'per_page', 'limit', 'cursor']);

type ReportOf = (name: string, fault: Fault) => void;

/** Page size and position as the operation's arguments. per_page wins over limit; both are cut to their maximum. */
function paging(all: ReadonlyMap<string, QueryParameter>, hasPages: boolean, report: ReportOf) {
  const only = (name: string) => onlyText(all.get(name), (fault) => report(name, fault));
  const whole = (name: string) => {
    const text = only(name);
    if (text === undefined) return undefined;
    const value = /^\d+$/.test(text) ? Math.min(Number(text), 2 ** 31 - 1) : 0;
    if (value < 1) report(name, { code: 'out_of_range', message: 'must be an integer of at least 1' });
    return value;
  };
  const [perPage, limit, numbered] = [whole('per_page'), whole('limit'), whole('page')];
  const size = perPage ? Math.min(perPage, maxPageSize) : limit ? Math.min(limit, smallPage) : undefined;
  const after = only('cursor');
  // Clients send the first page by themselves where their caller names none.
  const page = numbered === 1 && (after || !hasPages) ? undefined : numbered;
  if (page !== undefined && !hasPages)
    report('page', { code: 'not_allowed', message: 'is not taken here: go on with the cursor of the page before' });
  if (after && page) report('page', { code: 'conflicting', message: 'cannot be combined with cursor' });
  return { page, perPage: size, after };
}

export interface Adapted {
  variables: Record<string, unknown>;
  /** The client's name of each field, for the messages. */
  names: Map<string, string>;
}

/**
 * A query string as the operation's variables; `hasPages` where the list is paged by number too. Throws 400 naming every parameter at
 * fault.
 */
export function adaptQuery(targets: ReadonlyMap<string, ParameterTarget>, query: Record<string, unknown>, hasPages = true): Adapted {
  const details: Detail[] = [];
  const report = (name: string, fault: Fault) => void details.push(detailOf(name, fault));
  const typeOf = (name: string) => targets.get(name)?.type ?? (ofPaging.has(name) ? GraphQLString : undefined);
  const all = askedIn(query, typeOf, report);
  const { page, perPage, after } = paging(all, hasPages, report);
  const filter: Record<string, unknown> = {};
  const variables: Record<string, unknown> = { filter, page, perPage, after };
  const names = new Map([
    ['perPage', 'per_page'],
    ['after', 'cursor'],
  ]);
  for (const [name, asked] of all) {
    const target = targets.get(name);
    if (!target) continue;
    const field = target.path.at(-1)!;
    if (field in variables && after !== undefined && target.path.join('.') === 'after')
      report(asked.written, { code: 'conflicting', message: 'cannot be combined with cursor' });
    names.set(field, asked.written);
    (target.path.length === 2 ? filter : variables)[field] = valueFor(asked, target, (fault) => report(asked.written, fault));
  }
  if (details.length > 0) throw invalid(details);
  if (variables.sort) variables.order ??= targets.get('sort')?.order;
  const { include, [totalCount]: count, ...rest } = variables;
  const included = ((include ?? []) as string[]).map((name) => [includeVariable(name), true]);
  const total = count === 'none' ? { [totalVariable]: false } : { [totalCount]: count };
  return { variables: { ...rest, ...total, ...Object.fromEntries(included) }, names };
}

/** The arguments of a list with those that its endpoint gives by itself. */
export function withFixed({ fixed = {}, pageSize }: Endpoint, variables: Record<string, unknown>): Record<string, unknown> {
  const given: Record<string, unknown> = { ...variables, perPage: variables.perPage ?? pageSize };
  for (const [path, value] of Object.entries(fixed)) {
    const [outer, inner] = path.split('.') as [string, string?];
    given[outer] = inner ? { ...(given[outer] as object), [inner]: value } : value;
  }
  return given;
}
