import { type Bucket, spendsGeneral } from '../kernel/access/rateLimits.js';
import type { Module } from '../kernel/module/module.js';
import { type RawReply, raw } from '../kernel/module/routes.js';
import type { BoundEndpoint } from './endpoints.js';
import { operationIds, summaryOf, tierOf } from './openapi.js';
import { errorStatuses, successStatuses } from './openapi.responses.js';
import { holding, type Schema } from './openapi.schemas.js';
import { localBase, postmanCollection } from './postman.js';

const words: Schema = { type: 'array', items: { type: 'string' } };
const entrySchema = {
  method: { type: 'string', enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
  path: { type: 'string', description: 'Relative to the base address' },
  summary: { type: 'string' },
  module: { type: 'string' },
  scope: { ...words, description: 'The domains that a key must be allowed' },
  tier: { type: ['string', 'null'], enum: ['read', 'read-write', 'admin', null], description: 'The least permission of a key' },
  role: { type: ['string', 'null'], enum: ['member', 'admin', 'owner', null], description: 'The least role of the caller' },
  permissions: { ...words, description: 'What a member may have instead of the role admin' },
  sessionOnly: { type: 'boolean', description: 'Whether API keys are refused' },
  public: { type: 'boolean', description: 'Whether no credentials are needed' },
  rateLimits: { ...words, description: 'The buckets that a request spends; `key` only those with a key, `general` only those without' },
  statuses: { type: 'array', items: { type: 'integer' }, description: 'Every status that can be answered' },
};
const fullSchema = {
  operationId: { type: 'string', description: 'The id in the OpenAPI document' },
  operation: { type: ['string', 'null'], description: 'The GraphQL root field that does the same' },
  parameters: { ...words, description: 'Names in the path, the query string and the headers' },
};

const listOf = (entry: Record<string, Schema>) => holding({ data: { type: 'array', items: holding(entry) } });

const objects: Schema = { type: 'array', items: { type: 'object' } };
const collectionParts = { info: { type: 'object' }, item: objects, variable: objects };
const documentParts = { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' }, components: { type: 'object' } };

/** One endpoint as both catalogs tell it. */
function entryOf(bound: BoundEndpoint) {
  const { endpoint, module, needs, field } = bound;
  const named = (field?.extensions.buckets as Bucket[] | undefined) ?? [];
  const own: Bucket[] = spendsGeneral(named) ? ['general', ...named] : named;
  return {
    method: endpoint.method,
    path: endpoint.path,
    summary: summaryOf(bound),
    module,
    scope: needs.scopes,
    tier: needs.public || needs.session ? null : tierOf(bound),
    role: needs.public ? null : needs.role,
    permissions: needs.permissions,
    sessionOnly: needs.session,
    public: needs.public,
    rateLimits: needs.public || needs.session ? own : [...own, 'key'],
    statuses: [...successStatuses(bound), ...errorStatuses(bound)],
  };
}

type Text = 'public' | 'full' | 'openapi' | 'postman';

/** What the catalogs tell of. The document is made when it is read. */
interface Published {
  readonly endpoints: readonly BoundEndpoint[];
  readonly openapi: Record<string, unknown>;
}

/**
 * The contract's machine-readable catalogs and the OpenAPI document, as endpoints like all others, so that they list themselves.
 * `GET /schema/public`, `GET /openapi.json` and `GET /postman.json` need no credentials; `GET /schema/api-catalog` does and tells more of
 * each endpoint.
 */
export class Catalog {
  #texts?: Record<Text, string>;
  #published?: Published;

  readonly module: Module = {
    name: 'schema',
    about: 'What this API is, for programs',
    resolvers: [],
    routes: [
      raw('GET /schema/public', this.#answer('public'), {
        access: { public: true },
        answers: 'application/json',
        answerSchema: listOf(entrySchema),
        summary: 'Every endpoint that is served',
      }),
      raw('GET /schema/api-catalog', this.#answer('full'), {
        access: {},
        answers: 'application/json',
        answerSchema: listOf({ ...entrySchema, ...fullSchema }),
        summary: 'Every endpoint that is served, with its parameters and its GraphQL operation',
      }),
      raw('GET /openapi.json', this.#answer('openapi'), {
        access: { public: true },
        answers: 'application/json',
        answerSchema: { type: 'object', required: Object.keys(documentParts), properties: documentParts },
        summary: 'The OpenAPI 3.1 document of what is served',
      }),
      raw('GET /postman.json', this.#answer('postman'), {
        access: { public: true },
        answers: 'application/json',
        answerSchema: { type: 'object', required: Object.keys(collectionParts), properties: collectionParts },
        summary: 'The same as a collection of Postman (format v2.1)',
      }),
    ],
  };

  /** Says what is answered from now on. */
  publish(published: Published): void {
    this.#published = published;
  }

  /** The texts, written once, when the first of them is asked for. */
  #write({ endpoints, openapi }: Published) {
    const ids = operationIds(endpoints);
    const full = (bound: BoundEndpoint) => ({
      ...entryOf(bound),
      operationId: ids.get(bound),
      operation: bound.endpoint.operation ?? null,
      parameters: parameterNames(bound, openapi),
    });
    return {
      public: JSON.stringify({ data: endpoints.map(entryOf) }),
      full: JSON.stringify({ data: endpoints.map(full) }),
      openapi: JSON.stringify(openapi),
      postman: JSON.stringify(postmanCollection(openapi, localBase)),
    };
  }

  #answer(which: Text) {
    return async (): Promise<RawReply> => {
      this.#texts ??= this.#write(this.#published!);
      return { body: this.#texts[which] };
    };
  }
}

type Parameter = { name?: string; $ref?: string };

function parameterNames({ endpoint }: BoundEndpoint, openapi: Record<string, unknown>): string[] {
  const paths = openapi.paths as Record<string, Record<string, { parameters?: Parameter[] }>>;
  const parameters = paths[endpoint.path]?.[endpoint.method.toLowerCase()]?.parameters ?? [];
  return parameters.map(({ name, $ref }) => name ?? $ref!.split('/').at(-1)!);
}
