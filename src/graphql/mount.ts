import { type ApolloServer, HeaderMap } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type FormattedExecutionResult, GraphQLError } from 'graphql';
import { AppError } from '../kernel/base/errors.js';
import { toGraphQLError } from './errors.js';
import { type DocumentRequest, type PersistedDocuments, withoutHash } from './persisted.js';
import { graphqlResponse, wantsGraphqlResponse, wantsPage } from './responseType.js';
import type { GraphQLContext } from './server.js';

export interface HttpEndpoint {
  apollo: ApolloServer<GraphQLContext>;
  persisted: PersistedDocuments;
  /** What a browser is shown that was led here; nothing where pages are not served. */
  page?: (request: FastifyRequest, reply: FastifyReply) => unknown;
}

/** Whether a person looks at the address: a browser that wants a page, and asks nothing. */
const isVisit = ({ method, headers, query }: FastifyRequest) => {
  const asked = query as Params;
  return (
    method === 'GET' &&
    asked.query === undefined &&
    asked.documentId === undefined &&
    asked.extensions === undefined &&
    wantsPage(headers.accept)
  );
};

/** GraphQL over HTTP at `/graphql`. */
export function mountGraphQL(server: FastifyInstance, endpoint: HttpEndpoint): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    exposeHeadRoute: false,
    config: { route: '/graphql', graphql: true },
    handler: (request, reply) => (endpoint.page && isVisit(request) ? endpoint.page(request, reply) : serve(endpoint, request, reply)),
  });
}

type Params = Record<string, unknown>;

async function serve({ apollo, persisted }: HttpEndpoint, request: FastifyRequest, reply: FastifyReply) {
  const { ctx, gate } = request;
  let given: { body: unknown; search: string };
  try {
    given = withText(request, persisted);
  } catch (error) {
    return refuse(error, request, reply);
  }
  const { status, headers, body } = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method: request.method, headers: headersOf(request), ...given },
    context: async () => ({ ctx, gate }),
  });
  reply.status(status ?? 200).headers(Object.fromEntries(headers));
  if (body.kind !== 'complete') throw new Error('Incremental delivery is not supported');
  return status && status >= 400 ? whole(body.string, status, ctx.request.id) : body.string;
}

/** A refusal with all that an error of ours has: what Apollo refuses before it asks us is told neither the request nor its status. */
function whole(answer: string, status: number, requestId: string): string {
  const { errors, ...rest } = JSON.parse(answer) as FormattedExecutionResult;
  if (!errors || errors.every(({ extensions }) => extensions?.requestId)) return answer;
  const told = errors.map((error) => ({ ...error, extensions: { ...error.extensions, status, requestId } }));
  return JSON.stringify({ ...rest, errors: told });
}

/** The request with the text of its document, which may have been asked for by its hash. */
function withText({ method, body, query, url, ctx }: FastifyRequest, persisted: PersistedDocuments): { body: unknown; search: string } {
  const search = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const isCaller = ctx.principal !== null;
  if (method !== 'GET') {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return { body, search };
    const { documentId: _id, extensions, ...rest } = body as Params;
    const query = persisted.textOf(body as DocumentRequest, isCaller);
    return { body: { ...rest, query, ...(extensions !== undefined && { extensions: withoutHash(extensions) }) }, search };
  }
  const { documentId, extensions, ...rest } = query as Params;
  const given = extensionsIn(extensions);
  if (documentId === undefined && !given?.persistedQuery) {
    persisted.textOf(rest, isCaller);
    return { body, search };
  }
  const params = new URLSearchParams(search);
  params.delete('documentId');
  // What is no object stays as it came: Apollo refuses it.
  if (given) params.set('extensions', JSON.stringify(withoutHash(given)));
  const text = persisted.textOf({ query: rest.query, documentId, extensions: given }, isCaller);
  if (typeof text === 'string') params.set('query', text);
  return { body, search: `?${params}` };
}

/** The extensions of a query string; what is no JSON object is refused by whoever reads it next. */
function extensionsIn(text: unknown): Params | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Params) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What Apollo looks at. A page of another origin can send a GET with any Accept, but reads no answer, changes nothing and brings no
 * cookie (SameSite): who names the type of GraphQL over HTTP needs no header besides.
 */
function headersOf({ headers, method }: FastifyRequest): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) map.set(name, Array.isArray(value) ? value.join(', ') : value);
  if (method === 'GET' && headers.accept?.toLowerCase().includes(graphqlResponse)) map.set('apollo-require-preflight', '1');
  return map;
}

/** A refusal of a hash, as Apollo would answer it: the text to send. */
export function refuse(error: unknown, { ctx, headers }: FastifyRequest, reply: FastifyReply): string {
  const known = error instanceof AppError ? toGraphQLError(error, ctx.request.id) : error;
  if (!(known instanceof GraphQLError)) throw error;
  const isDraft = wantsGraphqlResponse(headers.accept);
  const { status, code } = known.extensions;
  // A hash that is not known yet is no fault: the client sends the text.
  reply.status(code === 'PERSISTED_QUERY_NOT_FOUND' && !isDraft ? 200 : Number(status));
  reply.type(`${isDraft ? graphqlResponse : 'application/json'}; charset=utf-8`);
  return JSON.stringify({ errors: [known.toJSON()] });
}
