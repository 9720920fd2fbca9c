import { type GraphQLInputObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import { parametersOf, pathNames, sharedParameters } from './openapi.parameters.js';
import { responsesOf, sharedComponents } from './openapi.responses.js';
import { type Schema, Schemas } from './openapi.schemas.js';
import type { MountedRow } from './table.js';

/** What an operation asks of a key by the way it works: the least tier, besides scopes. */
export const tierOf = ({ row, needs }: MountedRow) => (needs.admin ? 'admin' : row.method === 'GET' ? 'read' : 'read-write');

/** The root field's name where a row is the first to serve it, else one made of the address: ids of all rows are different. */
export function operationIds(rows: readonly MountedRow[]): Map<MountedRow, string> {
  const taken = new Set<string>();
  return new Map(
    rows.map((mounted) => {
      const { row } = mounted;
      const words = row.path.split(/\W+/).filter((word) => word && !pathNames(row.path).includes(word));
      const made = row.method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
      const id = row.operation && !taken.has(row.operation) ? row.operation : made;
      if (taken.has(id)) throw new Error(`${mounted.address}: two operations would be called ${id}`);
      taken.add(id);
      return [mounted, id];
    }),
  );
}

export const summaryOf = ({ row, field }: MountedRow) => row.summary ?? field?.description ?? row.path;

/** The OpenAPI 3.1 document of exactly the rows that are served (contract "Versioning": document version 1.0.0). */
export function openApiDocument(schema: GraphQLSchema, rows: readonly MountedRow[], basePath: string): Record<string, unknown> {
  const schemas = new Schemas();
  Object.assign(schemas.components, sharedComponents.schemas);
  const ids = operationIds(rows);
  const paths: Record<string, Schema> = {};
  for (const mounted of rows) {
    const { row } = mounted;
    paths[row.path] ??= {};
    paths[row.path]![row.method.toLowerCase()] = operation(mounted, ids.get(mounted)!, parametersOf(mounted, schema, schemas), schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'CRM Service API',
      version: '1.0.0',
      description: 'A multi-tenant CRM over JSON. All data is scoped to the account of the caller; lengths are counted in code points.',
      contact: { name: 'Whoever runs this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath }],
    tags: tagsOf(rows),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key (svc_…); x-requires tells its least permission and its scopes' },
        session: { type: 'apiKey', in: 'cookie', name: 'service_session', description: 'The HttpOnly cookie that a login sets' },
      },
      parameters: sharedParameters,
      headers: sharedComponents.headers,
      responses: sharedComponents.responses,
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operation(mounted: MountedRow, operationId: string, parameters: Schema[], schemas: Schemas): Schema {
  const description = accessText(mounted) || 'For every member of the workspace, and for every API key.';
  return {
    operationId,
    summary: summaryOf(mounted),
    description,
    tags: [mounted.module],
    ...(mounted.row.status === 410 && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(mounted, schemas),
    responses: responsesOf(mounted, schemas),
    security: security(mounted),
    ...requirements(mounted),
  };
}

function requestBody({ row, field }: MountedRow, schemas: Schemas): Schema {
  const arg = field?.args.find((a) => a.name === 'input');
  // What is only read takes its input by the query string.
  if (!arg || row.method === 'GET') return {};
  const type = getNamedType(arg.type) as GraphQLInputObjectType;
  const own = schemas.input(type);
  const required = 'required' in schemas.components[type.name]!;
  const aliases = Object.entries(row.body ?? {}).map(([alias, name]) => {
    const member = schemas.argument(type.getFields()[name]!);
    return [alias, { ...member, description: `Another name for ${name}` }];
  });
  const schema = aliases.length > 0 ? { allOf: [own, { type: 'object', properties: Object.fromEntries(aliases) }] } : own;
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

function security(mounted: MountedRow): Schema[] {
  const { needs } = mounted;
  if (needs.public) return [];
  return needs.session ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
}

/** What a key and a person must have, for programs: schemes other than OAuth have no scopes in OpenAPI. */
function requirements(mounted: MountedRow): Schema {
  const { needs } = mounted;
  if (needs.public) return {};
  const key = needs.session ? {} : { permission: tierOf(mounted), scopes: needs.scopes };
  return { 'x-requires': { ...key, role: needs.role } };
}

/** The modules that have rows. Throws where one does not say what it is about. */
function tagsOf(rows: readonly MountedRow[]) {
  const about = new Map(rows.map((mounted) => [mounted.module, mounted.about]));
  return [...about].map(([name, description]) => {
    if (!description) throw new Error(`The module ${name} has rows, and says not what it is about`);
    return { name, description };
  });
}

function accessText({ row, needs }: MountedRow): string {
  if (row.open) return 'Public: no credentials are looked at. Pages of any origin may call it (CORS), without credentials.';
  if (needs.public) return 'Public: no credentials are needed.';
  const words = [
    needs.session && 'Only for an interactive session; API keys are refused.',
    needs.role !== 'member' && `Needs the role ${needs.role}.`,
    needs.permissions.length > 0 && `Needs the role admin, or the permission ${needs.permissions.join(', ')}.`,
    needs.admin && 'Needs a key with the admin permission.',
    needs.scopes.length > 0 && `A key needs the scope ${needs.scopes.join(', ')}.`,
  ];
  return words.filter(Boolean).join(' ');
}
