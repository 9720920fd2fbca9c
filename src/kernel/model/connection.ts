import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  isObjectType,
  Kind,
  type SelectionNode,
} from 'graphql';
import { Arg, Args, ArgsType, createParameterDecorator, Field, ID, Int, ObjectType } from 'type-graphql';
import { invalidField } from '../base/errors.js';
import type { CheckScope } from './checks.js';
import { clean } from './cleaning.js';
import { oneOf } from './fields.js';
import { JsonObject } from './scalars.js';

export const maxPageSize = 200;
export const defaultPageSize = 50;

export const SortOrder = oneOf(
  'SortOrder',
  { asc: 'From the lowest, the earliest, or a', desc: 'From the highest, the latest, or z' },
  'The direction of a sort; nulls come last either way',
);
export type SortOrder = keyof typeof SortOrder;

/** Beyond so many an estimated total is not counted on. */
export const mostCounted = 10_000;

export const TotalCount = oneOf(
  'TotalCount',
  { exact: 'All are counted', estimated: 'Not counted beyond 10,000 where a filter would have to be counted' },
  `How the total of a list is found: exactly, or counted to ${mostCounted.toLocaleString('en')} at most where it would have to be counted`,
);
export type TotalCount = keyof typeof TotalCount;

// biome-ignore lint/suspicious/noExplicitAny: a class with any constructor
type Class<T = object> = new (...args: any[]) => T;

/** What every list takes. `selection` tells which parts of the answer are asked for. */
export interface ListArgs<F, S extends string> {
  filter?: F | null;
  where?: object | null;
  sort?: S | null;
  order?: SortOrder | null;
  orderBy?: readonly Readonly<Record<string, SortOrder>>[] | null;
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  page?: number | null;
  perPage?: number | null;
  count?: TotalCount | null;
  selection: ReadonlySet<string>;
}

const PageSize = (description: string) => Field(() => Int, { nullable: true, description: `${description}, at most ${maxPageSize}` });
const Cursor = (description: string) => Field(() => String, { nullable: true, description });

/**
 * The arguments of a list of one type: filter, sort, order, and first/after, last/before or page/perPage. Where the contract has one
 * order, `fixedOrder` says which: REST does not know the parameters then, and in GraphQL they change nothing.
 */
export function ListArgsOf<F extends object, S extends string>(
  filter: Class<F>,
  sorts: Record<S, string>,
  fixedOrder?: string,
): Class<ListArgs<F, S>> {
  const deprecationReason = fixedOrder && `Changes nothing: ${fixedOrder}`;
  @ArgsType()
  class PageArgs {
    static readonly filterType = filter;
    static readonly fixedOrder = fixedOrder;
    @Field(() => filter, { nullable: true, description: 'Which records' }) filter?: F;
    // Of its type knows the schema more, which is made of the record's table.
    @Field(() => JsonObject, { nullable: true, description: 'Which records, by conditions on their fields' }) where?: object;
    @Field(() => sorts as object, { nullable: true, description: 'The sort key; ties are broken by id', deprecationReason }) sort?: S;
    @Field(() => SortOrder, { nullable: true, description: 'The direction of the sort', deprecationReason }) order?: SortOrder;
    @Field(() => [JsonObject], { nullable: true, description: `Up to ${mostKeys} sort keys, the first one first; ties are broken by id` })
    orderBy?: Record<string, SortOrder>[];
    @PageSize('How many from the beginning, or after a cursor; 50 by default') first?: number;
    @Cursor('The cursor of the record to go on after') after?: string;
    @PageSize('How many from the end, or before a cursor; they come in the order of the list. Not together with first, after or a page')
    last?: number;
    @Cursor('The cursor of the record to stop before. Not together with first, after or a page') before?: string;
    @Field(() => Int, { nullable: true, description: 'The page number, from 1; not together with a cursor or last' }) page?: number;
    @PageSize('The page size; 50 by default') perPage?: number;
    @Field(() => TotalCount, { nullable: true, description: 'How the total is found; exactly by default' }) count?: TotalCount;
    selection: ReadonlySet<string>;
  }
  return PageArgs;
}

/** What TypeGraphQL runs over a list's arguments: the filter is cleaned by its rules, paging checked, the selection noted. */
export function validateListArgs(
  args: ListArgs<object, string>,
  type: unknown,
  { context, info }: { context: object; info: GraphQLResolveInfo },
): void {
  checkListArgs(type, args, context as CheckScope);
  args.selection = selectionOf(info);
}

/** A list resolver's arguments, validated. */
export const Listing = (): ParameterDecorator => Args({ validateFn: validateListArgs as never }) as ParameterDecorator;

/** Cleans the filter of a list's arguments and checks its paging. Throws 400 naming the argument at fault. */
export function checkListArgs(type: unknown, args: Omit<ListArgs<object, string>, 'selection'>, scope: CheckScope): void {
  const { filterType, fixedOrder } = type as { filterType: Class; fixedOrder?: string };
  clean(filterType, args.filter, scope);
  checkOrder(args);
  if (fixedOrder) Object.assign(args, { sort: undefined, order: undefined });
  checkPaging(args);
}

/** The most sort keys of a list. */
const mostKeys = 4;

/** Sort keys are one way to say an order, the other is a sort and its direction. */
function checkOrder({ orderBy, sort, order }: Pick<ListArgs<object, string>, 'orderBy' | 'sort' | 'order'>): void {
  if (!orderBy) return;
  const other = isGiven(sort) ? 'sort' : isGiven(order) ? 'order' : undefined;
  if (other && orderBy.length > 0) throw invalidField('orderBy', 'conflicting', `cannot be combined with ${other}`);
  if (orderBy.length > mostKeys) throw invalidField('orderBy', 'too_many', `must have at most ${mostKeys} keys`);
  const seen = new Set<string>();
  for (const [i, entry] of orderBy.entries()) {
    const keys = Object.keys(entry);
    const [name] = keys;
    if (keys.length !== 1 || !entry[name!]) throw invalidField(`orderBy[${i}]`, 'invalid_type', 'must be one key and its direction');
    if (seen.has(name!)) throw invalidField(`orderBy[${i}].${name}`, 'conflicting', 'is listed twice');
    seen.add(name!);
  }
}

/** An `id` argument. What it is the id of the schema says: the record of the field, or the one that the argument names (`tagId`). */
export const IdArg = (name = 'id', options: { nullable?: boolean } = {}) => Arg(name, () => ID, options);

type Paging = Pick<ListArgs<object, string>, 'first' | 'after' | 'last' | 'before' | 'page' | 'perPage'>;

/** What cannot go together: a page has one beginning. */
const exclusions: [keyof Paging, (keyof Paging)[]][] = [
  ['last', ['first', 'after', 'page', 'perPage']],
  ['before', ['first', 'after', 'page', 'perPage']],
  ['page', ['after']],
];

function checkPaging(args: Paging) {
  for (const name of ['first', 'last', 'perPage', 'page'] as const) {
    const value = args[name];
    if (value === undefined || value === null) continue;
    if (value < 1) throw invalidField(name, 'out_of_range', 'must be at least 1');
    if (name !== 'page' && value > maxPageSize) throw invalidField(name, 'out_of_range', `must be at most ${maxPageSize}`);
  }
  for (const [name, others] of exclusions) {
    const other = isGiven(args[name]) && others.find((one) => isGiven(args[one]));
    if (other) throw invalidField(name, 'conflicting', `cannot be combined with ${other}`);
  }
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

/** How many rows a request is for; perPage counts before first. */
export const pageSize = (args: Paging) => Math.min(args.perPage ?? args.last ?? args.first ?? defaultPageSize, maxPageSize);

const selections = new WeakMap<readonly FieldNode[], ReadonlySet<string>>();

/** The paths of fields selected below a field: `totalCount`, `nodes.tags`; those that a directive leaves out are not. */
export function selectionOf(info: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'variableValues'>): ReadonlySet<string> {
  const known = selections.get(info.fieldNodes);
  if (known) return known;
  const paths = new Set<string>();
  let isAlwaysSo = true;
  const walk = (nodes: readonly SelectionNode[], prefix: string) => {
    for (const node of nodes) {
      if (node.directives?.length) isAlwaysSo = false;
      if (!isIncluded(node, info.variableValues)) continue;
      if (node.kind === Kind.FRAGMENT_SPREAD) walk(info.fragments[node.name.value]?.selectionSet.selections ?? [], prefix);
      else if (node.kind === Kind.INLINE_FRAGMENT) walk(node.selectionSet.selections, prefix);
      else {
        paths.add(prefix + node.name.value);
        walk(node.selectionSet?.selections ?? [], `${prefix}${node.name.value}.`);
      }
    }
  };
  for (const node of info.fieldNodes) walk(node.selectionSet?.selections ?? [], '');
  if (isAlwaysSo) selections.set(info.fieldNodes, paths);
  return paths;
}

/** Whether a list selects something of its records, by either of the two ways to them. */
export const selectsOfNodes = (selection: ReadonlySet<string>, name: string): boolean =>
  selection.has(`nodes.${name}`) || selection.has(`edges.node.${name}`);

/** Whether the directives of a selection leave it in, with these values of the variables. */
export function isIncluded(node: SelectionNode, variables: Readonly<Record<string, unknown>>): boolean {
  if (!node.directives?.length) return true;
  if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false;
}

/** The selection below a field that is no list, as an argument of its resolver. */
export const Selected = (): ParameterDecorator => createParameterDecorator(({ info }) => selectionOf(info)) as ParameterDecorator;

@ObjectType({ description: 'Where a page stands in its list' })
export class PageInfo {
  @Field({ description: 'Whether more records follow' }) hasNextPage: boolean;
  @Field({ description: 'Whether records come before' }) hasPreviousPage: boolean;
  @Field(() => String, { nullable: true, description: 'The cursor of the first record' }) startCursor: string | null;
  @Field(() => String, { nullable: true, description: 'The cursor of the last record' }) endCursor: string | null;
}

/** One page of a list, as the connection types read it. */
export class Page<T> {
  constructor(
    readonly nodes: T[],
    private readonly cursorOf: (node: T, index: number) => string,
    private readonly more: { next: boolean; previous: boolean },
    readonly totalCount: number | null,
  ) {}

  get edges() {
    return this.nodes.map((node, i) => ({ node, cursor: this.cursorOf(node, i) }));
  }

  get pageInfo(): PageInfo {
    const cursorAt = (i: number) => (this.nodes[i] === undefined ? null : this.cursorOf(this.nodes[i], i));
    return {
      hasNextPage: this.more.next,
      hasPreviousPage: this.more.previous,
      startCursor: cursorAt(0),
      endCursor: cursorAt(this.nodes.length - 1),
    };
  }
}

/** Whether a type is a page of a list. */
export const isConnection = (type: GraphQLNamedType): type is GraphQLObjectType =>
  isObjectType(type) && 'pageInfo' in type.getFields() && 'nodes' in type.getFields();

/** The Relay connection of a record type, which also pages by number. */
export function ConnectionOf<T extends object>(node: Class<T>) {
  @ObjectType(`${node.name}Edge`, { description: `A record of the type ${node.name}, and its place in the list` })
  class Edge {
    @Field({ description: 'Where the record stands; pass it as after' }) cursor: string;
    @Field(() => node, { description: 'The record' }) node: T;
  }
  @ObjectType(`${node.name}Connection`, { description: `A page of ${node.name} records` })
  class Connection {
    @Field(() => [node], { description: 'The records of the page' }) nodes: T[];
    @Field(() => [Edge], { description: 'The records with their cursors' }) edges: Edge[];
    @Field(() => PageInfo, { description: 'Where the page stands' }) pageInfo: PageInfo;
    @Field(() => Int, { description: 'How many records there are in all, exactly unless count says otherwise; counted only when selected' })
    totalCount: number;
  }
  return Connection as Class<Page<T>>;
}
