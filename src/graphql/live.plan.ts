import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getOperationAST,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';
import { badRequest, check } from '../kernel/base/errors.js';
import { collect, type SelectionContext } from '../kernel/lists/collect.js';
import { memberOf } from '../kernel/model/fieldRules.js';
import { fragmentsOf } from '../kernel/model/selections.js';
import type { AnyTable } from '../kernel/tables/table.js';
import { type Computed, nestedSelection } from './live.nested.js';
import { mostLists } from './live.types.js';

type Variables = Readonly<Record<string, unknown>>;

/** Stands first in every record that is read for a live query, so that it is known which one it is. */
export const idKey = '_live_id';

/** Where the records of a list stand in what is read for a live query: a document may call anything else of the list `nodes`. */
export const nodesKey = '_live_nodes';

/** A list of a live query: what it reads, and under which names it answers. */
export interface ListPlan {
  key: string;
  /** What its records are read from; none where that is not declared. */
  table?: AnyTable;
  args: Variables;
  /** The members of the answer in their order. */
  members: { key: string; name: string; rows?: { key: string; name: string }[] }[];
  /** Whether its records are read at all. */
  hasRows: boolean;
  /** Whether something below its records may be of their own type again, or is not known. */
  leadsBack: boolean;
  /** What is computed of its records and of those below them. */
  computed: Computed[];
}

/** A live query: the query behind it, and how its answers look. */
export interface LivePlan {
  /** The name under which the root field answers. */
  key: string;
  /** The members of the answer in their order. */
  members: { key: string; name: string; list?: ListPlan }[];
  lists: ListPlan[];
  query: DocumentNode;
}

const name = (value: string) => ({ kind: Kind.NAME, value }) as const;

/** The plan of a validated subscription of `live`. Throws 400 for one that has no list, or one record under two names. */
export function planLive(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): LivePlan {
  const definition = getOperationAST(document, operationName)!;
  const context: SelectionContext = { schema, fragments: fragmentsOf(document), conditions: variables };
  const [[key, root]] = [...collect(context, schema.getSubscriptionType()!, [definition.selectionSet])] as [[string, FieldNode[]]];
  const live = schema.getType('Live') as GraphQLObjectType;
  const query = schema.getQueryType()!;
  const fields: FieldNode[] = [];
  const members = [...collect(context, live, setsOf(root))].map(([own, group]) => {
    const node = group[0]!;
    if (!query.getFields()[node.name.value]) return { key: own, name: node.name.value };
    const { list, field } = planList(context, own, group);
    fields.push(field);
    return { key: own, name: node.name.value, list };
  });
  const lists = members.flatMap(({ list }) => (list ? [list] : []));
  check(lists.length > 0, () => badRequest('live watches lists: select at least one'));
  check(lists.length <= mostLists, () => badRequest(`live watches at most ${mostLists} lists at once`));
  const selectionSet: SelectionSetNode = setOf(fields);
  const fragments = reachable(context.fragments, selectionSet);
  const used = variablesIn([selectionSet, ...fragments]);
  const operation = {
    kind: Kind.OPERATION_DEFINITION,
    operation: OperationTypeNode.QUERY,
    variableDefinitions: definition.variableDefinitions?.filter(({ variable }) => used.has(variable.name.value)),
    selectionSet,
  } as const;
  return { key, members, lists, query: { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] } };
}

const setOf = (selections: readonly SelectionNode[]): SelectionSetNode => ({ kind: Kind.SELECTION_SET, selections });

const setsOf = (nodes: readonly FieldNode[]) => nodes.map(({ selectionSet }) => selectionSet);

function planList(context: SelectionContext, key: string, group: FieldNode[]): { list: ListPlan; field: FieldNode } {
  const node = group[0]!;
  const declared = context.schema.getQueryType()!.getFields()[node.name.value]!;
  const live = (context.schema.getType('Live') as GraphQLObjectType).getFields()[node.name.value]!;
  const type = getNamedType(live.type) as GraphQLObjectType;
  const edge = getNamedType(type.getFields().rows!.type) as GraphQLObjectType;
  const record = getNamedType(edge.getFields().node!.type) as GraphQLObjectType;
  const selections: SelectionNode[] = [];
  const inner: SelectionNode[] = [];
  const members = [...collect(context, type, setsOf(group))].map(([own, nodes]): ListPlan['members'][number] => {
    const called = nodes[0]!.name.value;
    if (called !== 'rows') {
      if (!['isWhole', 'removed', '__typename'].includes(called)) selections.push(...nodes);
      return { key: own, name: called };
    }
    const rows = [...collect(context, edge, setsOf(nodes))].map(([row, of]) => {
      if (of[0]!.name.value === 'node') inner.push(...of.flatMap(({ selectionSet }) => selectionSet!.selections));
      return { key: row, name: of[0]!.name.value };
    });
    return { key: own, name: called, rows };
  });
  const shown = members.flatMap(({ rows }) => rows ?? []).filter((row) => row.name === 'node');
  check(shown.length <= 1, () => badRequest(`${key} selects node under several names: once is enough`));
  const names = new Set([...members.map((member) => member.key), ...collect(context, record, [setOf(inner)]).keys()]);
  for (const own of [idKey, nodesKey]) check(!names.has(own), () => badRequest(`${own} is a name of live's own: choose another alias`));
  const hasRows = members.some(({ rows }) => rows);
  if (hasRows) selections.unshift(nodesOf(record, inner));
  // Where conditions leave nothing of it.
  if (selections.length === 0) selections.push(field('__typename'));
  const asked: FieldNode = { ...node, alias: name(key), directives: [], selectionSet: setOf(selections) };
  const list = {
    key,
    table: declared.extensions.reads as AnyTable | undefined,
    args: getArgumentValues(live, node, context.conditions),
    members,
    hasRows,
    ...nestedSelection(context, record, inner),
  };
  return { list, field: asked };
}

const field = (of: string, alias?: string, selections?: readonly SelectionNode[]): FieldNode => ({
  kind: Kind.FIELD,
  name: name(of),
  ...(alias && { alias: name(alias) }),
  ...(selections && { selectionSet: setOf(selections) }),
});

const nodesOf = (record: GraphQLObjectType, selections: readonly SelectionNode[]): FieldNode =>
  field('nodes', nodesKey, [field(keyOf(record), idKey), ...selections]);

/** The field of a record by which its rows are known: the contact's id of a conversation, which has none of its own. */
function keyOf(record: GraphQLObjectType): string {
  const fields = record.getFields();
  const table = record.extensions.table as AnyTable | undefined;
  const key = fields.id ?? (table && Object.values(fields).find((one) => table.columnOf(memberOf(one)) === `t.${table.key}`));
  if (!key) throw new Error(`Nothing says by what records of the type ${record.name} are known`);
  return key.name;
}

/** The fragments that a selection leads to. */
function reachable(all: ReadonlyMap<string, FragmentDefinitionNode>, set: SelectionSetNode): FragmentDefinitionNode[] {
  const found = new Map<string, FragmentDefinitionNode>();
  const look = (node: SelectionSetNode) =>
    visit(node, {
      FragmentSpread({ name: { value } }) {
        const fragment = all.get(value);
        if (!fragment || found.has(value)) return;
        found.set(value, fragment);
        look(fragment.selectionSet);
      },
    });
  look(set);
  return [...found.values()];
}

function variablesIn(nodes: readonly (SelectionSetNode | FragmentDefinitionNode)[]): Set<string> {
  const names = new Set<string>();
  for (const node of nodes) visit(node, { Variable: (variable) => void names.add(variable.name.value) });
  return names;
}
