import {
  type DocumentNode,
  type FieldNode,
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
import { markOf, type Needs, needsOf } from '../kernel/access/access.js';
import { isConnection } from '../kernel/model/connection.js';
import { answerInWords } from '../kernel/model/enums.js';
import { recordSelection } from '../kernel/model/restRecord.js';
import type { Module } from '../kernel/module/module.js';
import type { Row } from '../kernel/module/routes.js';
import type { Operation } from '../kernel/operations/operation.js';
import { includeVariable, inputSources, isOfRest, querySources, type Source, totalCount, totalVariable } from './query.js';

/** A row bound to the schema: its root field, its document, where its arguments come from. */
export interface MountedRow {
  row: Row;
  /** "GET /contacts/{id}". */
  address: string;
  module: string;
  /** What the module is about. */
  about?: string;
  field?: GraphQLField<unknown, unknown>;
  document?: DocumentNode;
  /** A list's query parameters, by their name in the query string. */
  sources: ReadonlyMap<string, Source>;
  needs: Needs;
  /** The pages that its record carries along, which it shows as lists. */
  connections: readonly string[];
  operation(): Operation;
}

const none: Needs = {
  public: false,
  session: false,
  beforeMfa: false,
  admin: false,
  role: 'member',
  permissions: [],
  write: false,
  scopes: [],
};

/** Binds every row of every module. Throws on a row whose operation is missing, or that collides with another. */
export function bindRows(modules: readonly Module[], schema: GraphQLSchema, documents: Documents): MountedRow[] {
  const seen = new Set<string>();
  return modules.flatMap((module) =>
    module.routes.map((row) => {
      const address = `${row.method} ${row.path}`;
      const shape = address.replace(/\{[^}]+\}/g, '{}');
      if (seen.has(shape)) throw new Error(`Two rows answer ${address}`);
      seen.add(shape);
      const mounted = row.operation ? bind(row, address, module.name, schema, documents) : bindRaw(row, address, module.name, schema);
      return { ...mounted, about: module.about };
    }),
  );
}

function bindRaw(row: Row, address: string, module: string, schema: GraphQLSchema): MountedRow {
  if (!row.access) throw new Error(`${address} states no access`);
  const { scope, ...mark } = row.access;
  const needs = { ...none, ...mark, write: row.method !== 'GET', scopes: scope ? [scope] : [] };
  const operation = () => {
    throw new Error(`${address} runs no operation`);
  };
  const filters = row.filters ? schema.getQueryType()?.getFields()[row.filters] : undefined;
  const sources = filters ? querySources(filters, row, address) : new Map<string, Source>();
  return { row, address, module, sources, needs, connections: [], operation };
}

function bind(given: Row, address: string, module: string, schema: GraphQLSchema, documents: Documents): MountedRow {
  const name = given.operation!;
  const kind = schema.getQueryType()?.getFields()[name] ? 'query' : 'mutation';
  const field = (kind === 'query' ? schema.getQueryType() : schema.getMutationType())?.getFields()[name];
  if (!field) throw new Error(`${address}: there is no operation ${name}`);
  markOf(field);
  const row: Row = { ...given, invalid: field.extensions.invalid as Row['invalid'] };
  const document = answerInWords(parse(documentText(kind, field, row), { noLocation: true }));
  const faults = validate(schema, document);
  if (faults.length > 0) throw new Error(`${address}: ${faults[0]!.message}`);
  if (row.open && !markOf(field).public) throw new Error(`${address} is open to every origin, but not public`);
  // What the contract lets a record carry along (a deal's contact) is part of it: who may read the record may read that.
  const narrow = { ...row, with: undefined, include: undefined };
  const needs = row.with || row.include ? needsOf(schema, parse(documentText(kind, field, narrow))) : undefined;
  const operation = () => {
    const compiled = documents.get(document, undefined, address);
    return needs ? { ...compiled, needs } : compiled;
  };
  return {
    row,
    address,
    module,
    field,
    document,
    sources: row.list ? querySources(field, row, address) : row.inputByQuery ? inputSources(field) : new Map(),
    needs: { ...operation().needs, write: row.method !== 'GET' },
    connections: row.list ? [] : connectionsIn(field, document),
    operation,
  };
}

/** The members of a row's record that are pages. */
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

function documentText(kind: string, field: GraphQLField<unknown, unknown>, row: Row): string {
  const conditions = [
    ...(row.minimal ? ['minimal'] : []),
    ...Object.keys(row.extras ?? {}),
    ...Object.keys(row.include ?? {}).map(includeVariable),
  ];
  const args = field.args.filter(isOfRest);
  const declared = [
    ...args.map((a) => `$${a.name}: ${a.type}`),
    ...conditions.map((name) => `$${name}: Boolean = false`),
    ...(takesCount(field) ? [`$${totalVariable}: Boolean = true`] : []),
  ].join(', ');
  const passed = args.map((a) => `${a.name}: $${a.name}`).join(', ');
  const selection = selectionFor(field, row);
  return `${kind} ${declared && `(${declared})`} { ${field.name}${passed && `(${passed})`} ${selection} }`;
}

/** Whether a list takes how its total is found. */
const takesCount = ({ args }: GraphQLField<unknown, unknown>) => args.some(({ name }) => name === totalCount);

/** Fields that are selected only when their variable says so. */
const conditional = (members: Record<string, string> = {}, variable = (name: string) => name) =>
  Object.entries(members)
    .map(([name, selection]) => selection.replace(/^\w+/, (field) => `${field} @include(if: $${variable(name)})`))
    .join(' ');

function selectionFor(field: GraphQLField<unknown, unknown>, row: Row): string {
  const type = getNamedType(field.type);
  if (!isObjectType(type)) return '';
  const { nodes } = type.getFields();
  if (nodes && isConnection(type)) {
    const more = [row.with, conditional(row.include, includeVariable)].filter(Boolean).join(' ');
    const whenWhole = (member: string) => (!row.minimal || row.minimal.includes(member) ? '' : ' @skip(if: $minimal)');
    const record = widen(row.select ?? recordSelection(getNamedType(nodes.type) as GraphQLObjectType, undefined, whenWhole), more);
    const total = takesCount(field) ? `totalCount @include(if: $${totalVariable})` : 'totalCount';
    return `{ nodes ${record} ${total} pageInfo ${onPage} ${[...(row.beside ?? []), conditional(row.extras)].join(' ')} }`;
  }
  return widen(row.select ?? recordSelection(type, field.extensions.record as string[] | undefined), row.with);
}

const widen = (selection: string, more?: string) => (more ? selection.replace(/\}$/, `${more} }`) : selection);
