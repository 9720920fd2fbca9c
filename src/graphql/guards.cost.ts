import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { defaultPageSize, maxPageSize } from '../kernel/model/connection.js';
import { mostItems, weightOf } from '../kernel/model/recordMarks.js';
import { type Fragments, fragmentOf, fragmentsOf } from '../kernel/model/selections.js';

type Variables = Readonly<Record<string, unknown>>;

/** The arguments that tell a page's size: perPage wins over first, as in the lists themselves. */
const sizeArguments = ['perPage', 'first', 'last', 'limit'];

/** The most records that an operation could read, and where most of them are. */
export interface Cost {
  records: number;
  /** The path of the field that costs most: `contacts.nodes.deals.nodes`. */
  dearest: string;
  /** How many records it costs by itself. */
  most: number;
  /** The path of the list whose smaller pages would make it cheaper: its own, or the one that it is read with each record of. */
  paged?: string;
  /** Whether other variables could make it another cost. */
  varies: boolean;
}

/**
 * The cost of an operation of a validated document: how many records it reads at most. A record costs 1; a page as many as
 * its size says (its argument, a variable, its default), a list without pages as many as its field can hold (`MaxItems`, the
 * `list` of `Nested`), each times what is read with each of its records. What takes longer than a record says so (`Weighs`).
 * Conditions count as met. Connections and page infos are no records.
 */
export function costOf(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Variables = {}): Cost {
  const counter = new Counter(schema, document, operation, variables);
  const root = schema.getRootType(operation.operation);
  if (root) counter.add(root, operation.selectionSet, { times: 1, path: '' });
  return counter.cost;
}

/** Where a selection stands. */
interface Place {
  /** How often its parent is read. */
  times: number;
  path: string;
  /** Where the parent is a connection: the size of its page. */
  page?: number;
  /** The path of the nearest list that has pages. */
  paged?: string;
}

class Counter {
  readonly cost: Cost = { records: 0, dearest: '', most: 0, varies: false };
  readonly #fragments: Fragments;

  constructor(
    private readonly schema: GraphQLSchema,
    document: DocumentNode,
    private readonly operation: OperationDefinitionNode,
    private readonly variables: Variables,
  ) {
    this.#fragments = fragmentsOf(document);
  }

  add(type: GraphQLNamedType, set: SelectionSetNode, place: Place): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        this.#field(type, selection, place);
        continue;
      }
      const fragment = fragmentOf(this.#fragments, selection);
      const named = fragment?.typeCondition?.name.value;
      if (fragment) this.add((named && this.schema.getType(named)) || type, fragment.selectionSet, place);
    }
  }

  #field(parent: GraphQLNamedType, node: FieldNode, place: Place): void {
    const { times, path, page } = place;
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[node.name.value] : undefined;
    if (!field) return;
    const type = getNamedType(field.type);
    const at = path ? `${path}.${node.name.value}` : node.name.value;
    this.#count(times * weightOf(field), at, place.paged);
    if (isLeafType(type) || !node.selectionSet) return;
    const size = this.#pageSize(field, node);
    const paged = size === undefined ? place.paged : at;
    const isList = isListType(getNullableType(field.type));
    const items = times * (isList ? (size ?? page ?? this.#given(node) ?? mostItems(field) ?? maxPageSize) : 1);
    // The record of an edge is counted with the edge.
    if (!isStructure(type) && !isEdge(parent)) this.#count(items, at, paged);
    // The page of a connection is that of its nodes and of its edges, not of the lists further in.
    this.add(type, node.selectionSet, { times: items, path: at, page: isPage(type) ? size : undefined, paged });
  }

  #count(records: number, at: string, paged: string | undefined): void {
    const { cost } = this;
    // Beyond this they would no longer be whole numbers.
    cost.records = Math.min(cost.records + records, Number.MAX_SAFE_INTEGER);
    if (records <= cost.most) return;
    cost.most = Math.min(records, Number.MAX_SAFE_INTEGER);
    cost.dearest = at;
    cost.paged = paged;
  }

  /** The size of the page that a field asks for; undefined where it does not page. */
  #pageSize(field: GraphQLField<unknown, unknown>, node: FieldNode): number | undefined {
    const own = field.args.filter(({ name }) => sizeArguments.includes(name));
    if (own.length === 0) return undefined;
    const sizes = sizeArguments.map((name) => this.#argument(node, name));
    const fallback = own.map(({ defaultValue }) => defaultValue).find((value) => typeof value === 'number');
    const size = sizes.find((value) => typeof value === 'number') ?? fallback ?? defaultPageSize;
    return Math.min(Math.max(size, 1), maxPageSize);
  }

  /** How many records are asked for by their ids; undefined where a field takes none. */
  #given(node: FieldNode): number | undefined {
    const value = node.arguments?.find((argument) => argument.name.value === 'ids')?.value;
    if (value?.kind === Kind.LIST) return Math.min(value.values.length, maxPageSize);
    if (value?.kind !== Kind.VARIABLE) return undefined;
    this.cost.varies = true;
    const ids = this.#valueOf(value.name.value);
    return Array.isArray(ids) ? Math.min(ids.length, maxPageSize) : undefined;
  }

  #valueOf(variable: string): unknown {
    return Object.hasOwn(this.variables, variable) ? this.variables[variable] : undefined;
  }

  #argument(node: FieldNode, name: string): number | undefined {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return Number(value.value);
    if (value?.kind !== Kind.VARIABLE) return undefined;
    this.cost.varies = true;
    const variable = value.name.value;
    const given = this.#valueOf(variable);
    if (given !== undefined) return typeof given === 'number' ? given : undefined;
    const fallback = this.operation.variableDefinitions?.find((d) => d.variable.name.value === variable)?.defaultValue;
    return fallback?.kind === Kind.INT ? Number(fallback.value) : undefined;
  }
}

/** A page of a list, or of a live one. */
const isPage = (type: GraphQLNamedType) => isObjectType(type) && /(Connection|LivePage)$/.test(type.name);

const isEdge = ({ name }: GraphQLNamedType) => name.endsWith('Edge');

/** Types that only hold records together. */
export const isStructure = (type: GraphQLNamedType) => isPage(type) || type.name === 'PageInfo' || type.extensions.isStructure === true;
