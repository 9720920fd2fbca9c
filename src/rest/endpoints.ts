import {
  type DocumentNode,
  type FieldNode,
  GraphQLBoolean,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import type { Documents } from '../graphql/documents.js';
import { markOf, type Needs, needsOf, noNeeds } from '../kernel/access/access.js';
import { isConnection } from '../kernel/model/connection.js';
import { answerInWords } from '../kernel/model/enums.js';
import { recordSelection } from '../kernel/model/restRecord.js';
import type { Module } from '../kernel/module/module.js';
import { type Endpoint, membersVariable } from '../kernel/module/routes.js';
import type { Operation } from '../kernel/operations/operation.js';
import { includeVariable, inputTargets, isOfRest, type ParameterTarget, queryTargets, totalCount, totalVariable } from './query.js';

/** An endpoint bound to the schema: its root field, its document, where its arguments come from. */
export interface BoundEndpoint {
  endpoint: Endpoint;
  /** "GET /contacts/{id}". */
  address: string;
  module: string;
  /** What the module is about. */
  about?: string;
  field?: GraphQLField<unknown, unknown>;
  document?: DocumentNode;
  /** A list's query parameters, by their name in the query string. */
  targets: ReadonlyMap<string, ParameterTarget>;
  needs: Needs;
  /** Whether it answers a page that a cursor goes on after. */
  isPaged: boolean;
  /** The pages that its record carries along, which it shows as lists. */
  connections: readonly string[];
  /** Whether its document asks if the caller may read members. */
  showsMembers: boolean;
  operation(): Operation;
}

/** Binds every endpoint of every module. Throws on an endpoint whose operation is missing, or that collides with another. */
export function bindEndpoints(modules: readonly Module[], schema: GraphQLSchema, documents: Documents): BoundEndpoint[] {
  const seen = new Set<string>();
  return modules.flatMap((module) =>
    module.routes.map((endpoint) => {
      const address = `${endpoint.method} ${endpoint.path}`;
      const shape = address.replace(/\{[^}]+\}/g, '{}');
      if (seen.has(shape)) throw new Error(`Two endpoints answer ${address}`);
      seen.add(shape);
      const bound = endpoint.operation
        ? bind(endpoint, address, module.name, schema, documents)
        : bindRaw(endpoint, address, module.name, schema);
      return { ...bound, about: module.about };
    }),
  );
}

/**
 * What the schema refuses of the endpoints' documents. Costs a tenth of a start, and no start can change them: asked when `schema/` is
 * made, and by tests.
 */
export const documentFaults = (schema: GraphQLSchema, endpoints: readonly BoundEndpoint[]): string[] =>
  endpoints.flatMap(({ address, document }) => (document ? validate(schema, document) : []).map(({ message }) => `${address}: ${message}`));

function bindRaw(endpoint: Endpoint, address: string, module: string, schema: GraphQLSchema): BoundEndpoint {
  if (!endpoint.access) throw new Error(`${address} has no \`access\``);
  const { scope, ...mark } = endpoint.access;
  const needs = { ...noNeeds(), ...mark, write: endpoint.method !== 'GET', scopes: scope ? [scope] : [] };
  const operation = () => {
    throw new Error(`${address} runs no operation`);
  };
  const filters = endpoint.filters ? schema.getQueryType()?.getFields()[endpoint.filters] : undefined;
  const targets = filters ? queryTargets(filters, endpoint, address) : new Map<string, ParameterTarget>();
  for (const name of Object.keys(endpoint.flags ?? {})) targets.set(name, { path: [name], type: GraphQLBoolean });
  return { endpoint, address, module, targets, needs, isPaged: false, connections: [], showsMembers: false, operation };
}

function bind(given: Endpoint, address: string, module: string, schema: GraphQLSchema, documents: Documents): BoundEndpoint {
  const name = given.operation!;
  const kind = schema.getQueryType()?.getFields()[name] ? 'query' : 'mutation';
  const field = (kind === 'query' ? schema.getQueryType() : schema.getMutationType())?.getFields()[name];
  if (!field) throw new Error(`${address}: there is no operation ${name}`);
  markOf(field);
  const endpoint: Endpoint = { ...given, invalid: field.extensions.invalid as Endpoint['invalid'] };
  const document = answerInWords(parse(documentText(kind, field, endpoint), { noLocation: true }));
  if (endpoint.open && !markOf(field).public) throw new Error(`${address} is open to every origin, but not public`);
  // What the contract lets a record carry along (a deal's contact) is part of it: who may read the record may read that.
  const narrow = { ...endpoint, with: undefined, include: undefined };
  const needs = endpoint.with || endpoint.include ? needsOf(schema, parse(documentText(kind, field, narrow))) : undefined;
  const operation = () => {
    const compiled = documents.get(document, undefined, address);
    return needs ? { ...compiled, needs } : compiled;
  };
  return {
    endpoint,
    address,
    module,
    field,
    document,
    targets: endpoint.list ? queryTargets(field, endpoint, address) : endpoint.inputByQuery ? inputTargets(field) : new Map(),
    needs: { ...operation().needs, write: kind === 'mutation' || endpoint.method !== 'GET' },
    isPaged: Boolean(endpoint.list && isConnection(getNamedType(field.type)) && field.args.some((a) => a.name === 'after')),
    connections: endpoint.list ? [] : connectionsIn(field, document),
    showsMembers: showsMembers(endpoint),
    operation,
  };
}

/** The members of an endpoint's record that are pages. */
function connectionsIn(field: GraphQLField<unknown, unknown>, document: DocumentNode): string[] {
  const type = getNamedType(field.type);
  const [root] = (document.definitions[0] as OperationDefinitionNode).selectionSet.selections;
  const selections = (root as FieldNode).selectionSet?.selections ?? [];
  return selections.flatMap((node) => {
    const member = node.kind === Kind.FIELD && isObjectType(type) ? type.getFields()[node.name.value] : undefined;
    return member && isConnection(getNamedType(member.type)) ? [member.name] : [];
  });
}

const onPage = '{ hasNextPage endCursor }';

const showsMembers = ({ with: more = '', include = {} }: Endpoint) =>
  [more, ...Object.values(include)].some((selection) => selection.includes(`$${membersVariable}`));

function documentText(kind: string, field: GraphQLField<unknown, unknown>, endpoint: Endpoint): string {
  const conditions = [
    ...(endpoint.minimal ? ['minimal'] : []),
    ...Object.keys(endpoint.extras ?? {}),
    ...Object.keys(endpoint.include ?? {}).map(includeVariable),
    ...(showsMembers(endpoint) ? [membersVariable] : []),
  ];
  const args = field.args.filter(isOfRest);
  const declared = [
    ...args.map((a) => `$${a.name}: ${a.type}`),
    ...conditions.map((name) => `$${name}: Boolean = false`),
    ...(takesCount(field) ? [`$${totalVariable}: Boolean = true`] : []),
  ].join(', ');
  const passed = args.map((a) => `${a.name}: $${a.name}`).join(', ');
  const selection = selectionFor(field, endpoint);
  return `${kind} ${declared && `(${declared})`} { ${field.name}${passed && `(${passed})`} ${selection} }`;
}

/** Whether a list takes how its total is found. */
const takesCount = ({ args }: GraphQLField<unknown, unknown>) => args.some(({ name }) => name === totalCount);

/** Fields that are selected only when their variable says so. */
const conditional = (members: Record<string, string> = {}, variable = (name: string) => name) =>
  Object.entries(members)
    .map(([name, selection]) => selection.replace(/^\w+/, (field) => `${field} @include(if: $${variable(name)})`))
    .join(' ');

function selectionFor(field: GraphQLField<unknown, unknown>, endpoint: Endpoint): string {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return '';
  const { nodes } = type.getFields();
  if (nodes && isConnection(type)) {
    const more = [endpoint.with, conditional(endpoint.include, includeVariable)].filter(Boolean).join(' ');
    const whenWhole = (member: string) => (!endpoint.minimal || endpoint.minimal.includes(member) ? '' : ' @skip(if: $minimal)');
    const record = widen(endpoint.select ?? recordSelection(getNamedType(nodes.type) as GraphQLObjectType, undefined, whenWhole), more);
    const total = takesCount(field) ? `totalCount @include(if: $${totalVariable})` : 'totalCount';
    return `{ nodes ${record} ${total} pageInfo ${onPage} ${[...(endpoint.beside ?? []), conditional(endpoint.extras)].join(' ')} }`;
  }
  return widen(endpoint.select ?? recordSelection(type, field.extensions.record as string[] | undefined), endpoint.with);
}

const widen = (selection: string, more?: string) => (more ? selection.replace(/\}$/, `${more} }`) : selection);
