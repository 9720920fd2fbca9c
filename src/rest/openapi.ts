import { type GraphQLInputObjectType, type GraphQLSchema, getNamedType } from 'graphql';
import type { BoundEndpoint } from './endpoints.js';
import { parametersOf, pathNames, sharedParameters } from './openapi.parameters.js';
import { responsesOf, sharedComponents } from './openapi.responses.js';
import { type Schema, Schemas } from './openapi.schemas.js';

/** What an operation asks of a key by the way it works: the least tier, besides scopes. */
export const tierOf = ({ endpoint, needs }: BoundEndpoint) => (needs.admin ? 'admin' : endpoint.method === 'GET' ? 'read' : 'read-write');

/** The root field's name where an endpoint is the first to serve it, else one made of the address: ids of all endpoints are different. */
export function operationIds(endpoints: readonly BoundEndpoint[]): Map<BoundEndpoint, string> {
  const taken = new Set<string>();
  return new Map(
    endpoints.map((bound) => {
      const { endpoint } = bound;
      const words = endpoint.path.split(/\W+/).filter((word) => word && !pathNames(endpoint.path).includes(word));
      const made = endpoint.method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
      const id = endpoint.operation && !taken.has(endpoint.operation) ? endpoint.operation : made;
      if (taken.has(id)) throw new Error(`${bound.address}: two operations would be called ${id}`);
      taken.add(id);
      return [bound, id];
    }),
  );
}

export const summaryOf = ({ endpoint, field }: BoundEndpoint) => endpoint.summary ?? field?.description ?? endpoint.path;

const about =
  'A multi-tenant CRM over JSON. All data is scoped to the account of the caller; lengths are counted in code points. Every operation takes the headers traceparent and tracestate (W3C), and X-Client-Mutation-Id, which the events of what it writes carry.';

const aKey =
  'An API key (svc_…); x-requires tells its least permission and its scopes, and of whom it acts for the least role, and the permissions that members need and admins do not';

/** The OpenAPI 3.1 document of exactly the endpoints that are served (contract "Versioning": document version 1.0.0). */
export function openApiDocument(schema: GraphQLSchema, endpoints: readonly BoundEndpoint[], basePath: string): Record<string, unknown> {
  const schemas = new Schemas(schema);
  Object.assign(schemas.components, sharedComponents.schemas);
  const ids = operationIds(endpoints);
  const paths: Record<string, Schema> = {};
  for (const bound of endpoints) {
    const { endpoint } = bound;
    paths[endpoint.path] ??= {};
    paths[endpoint.path]![endpoint.method.toLowerCase()] = operation(bound, ids.get(bound)!, parametersOf(bound, schema, schemas), schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'CRM Service API',
      version: '1.0.0',
      description: about,
      contact: { name: 'Whoever runs this server' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath }],
    tags: tagsOf(endpoints),
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: aKey },
        session: { type: 'apiKey', in: 'cookie', name: 'service_session', description: 'The HttpOnly cookie that a login sets' },
      },
      parameters: sharedParameters,
      headers: sharedComponents.headers,
      responses: sharedComponents.responses,
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operation(bound: BoundEndpoint, operationId: string, parameters: Schema[], schemas: Schemas): Schema {
  const description = accessText(bound) || 'For every member of the workspace, and for every API key.';
  return {
    operationId,
    summary: summaryOf(bound),
    description,
    tags: [bound.module],
    ...(bound.endpoint.status === 410 && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(bound, schemas),
    responses: responsesOf(bound, schemas),
    security: security(bound),
    ...requirements(bound),
  };
}

function requestBody({ endpoint, field }: BoundEndpoint, schemas: Schemas): Schema {
  const arg = field?.args.find((a) => a.name === 'input');
  // What is only read takes its input by the query string.
  if (!arg || endpoint.method === 'GET') return {};
  const type = getNamedType(arg.type) as GraphQLInputObjectType;
  const own = schemas.input(type);
  const required = 'required' in schemas.components[type.name]!;
  const aliases = Object.entries(endpoint.body ?? {}).map(([alias, name]) => {
    const member = schemas.argument(type.getFields()[name]!);
    return [alias, { ...member, description: `Another name for ${name}` }];
  });
  const schema = aliases.length > 0 ? { allOf: [own, { type: 'object', properties: Object.fromEntries(aliases) }] } : own;
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

function security(bound: BoundEndpoint): Schema[] {
  const { needs } = bound;
  if (needs.public) return [];
  return needs.session ? [{ session: [] }] : [{ apiKey: [] }, { session: [] }];
}

/** What a key and a person must have, for programs: schemes other than OAuth have no scopes in OpenAPI. */
function requirements(bound: BoundEndpoint): Schema {
  const { needs } = bound;
  if (needs.public) return {};
  const key = needs.session ? {} : { permission: tierOf(bound), scopes: needs.scopes };
  const permissions = needs.permissions.length > 0 ? { permissions: needs.permissions } : {};
  return { 'x-requires': { ...key, role: needs.role, ...permissions } };
}

/** The modules that have endpoints. Throws where one does not say what it is about. */
function tagsOf(endpoints: readonly BoundEndpoint[]) {
  const about = new Map(endpoints.map((bound) => [bound.module, bound.about]));
  return [...about].map(([name, description]) => {
    if (!description) throw new Error(`Module ${name} has endpoints but no \`about\``);
    return { name, description };
  });
}

function accessText({ endpoint, needs }: BoundEndpoint): string {
  if (endpoint.open) return 'Public: no credentials are looked at. Pages of any origin may call it (CORS), without credentials.';
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
