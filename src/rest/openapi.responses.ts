import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { codeMeanings } from '../kernel/base/errorMeanings.js';
import { faultMeanings, statusOf } from '../kernel/base/errors.js';
import type { BoundEndpoint } from './endpoints.js';
import { below, described, holding, reference, rootSelection, type Schema, type Schemas } from './openapi.schemas.js';

const errorNames: Record<number, [name: string, meaning: string]> = {
  400: ['InvalidRequest', 'Malformed or invalid body or query'],
  401: ['Unauthenticated', 'Missing, invalid or expired credentials'],
  402: ['PaymentRequired', 'Billing inactive, trial expired, or a limit of the plan reached'],
  403: ['PermissionDenied', 'The key or role lacks what this needs, or a limit of the plan is reached'],
  404: ['NotFound', 'Not found in the workspace'],
  409: ['Conflict', 'The state of the record, or another request, stands against it'],
  410: ['Gone', 'A retired endpoint, or a position that is no longer kept'],
  413: ['PayloadTooLarge', 'The body or one of its fields is too large'],
  422: ['ValidationFailed', 'A rule across fields or records is broken'],
  428: ['PreconditionRequired', 'The concurrency token is missing'],
  429: ['RateLimited', 'Too many requests; Retry-After tells when to come back'],
  500: ['InternalError', 'A fault of the server'],
  502: ['VendorUnavailable', 'A vendor could not be reached'],
  503: ['Unavailable', 'Temporarily unavailable; Retry-After tells when to come back'],
};

/** Every error status that an endpoint can answer, in order. */
export function errorStatuses({ endpoint, needs, targets }: BoundEndpoint): number[] {
  const statuses = new Set([429, 500, 503, ...(endpoint.also ?? [])]);
  const takesBody = endpoint.method !== 'GET';
  if (endpoint.list || targets.size > 0 || takesBody) statuses.add(400);
  if (takesBody) statuses.add(413);
  if (!needs.public) statuses.add(401).add(403);
  if (endpoint.path.includes('{')) statuses.add(404);
  if (isRepeatable({ endpoint })) statuses.add(409);
  if (endpoint.invalid === 422) statuses.add(422);
  if (endpoint.status === 410) statuses.add(410);
  return [...statuses].filter((status) => status >= 400).sort((a, b) => a - b);
}

/** Whether the endpoint honours an Idempotency-Key. */
export const isRepeatable = ({ endpoint }: Pick<BoundEndpoint, 'endpoint'>) =>
  endpoint.method === 'POST' && endpoint.operation !== undefined;

/** Every success status that an endpoint can answer; none for a retired endpoint. */
export const successStatuses = ({ endpoint }: BoundEndpoint) =>
  endpoint.status < 400 ? [...new Set([endpoint.status, ...Object.values(endpoint.statusWhen ?? {})])].sort((a, b) => a - b) : [];

const codesOf = (status: number) =>
  Object.entries(statusOf)
    .filter(([, its]) => its === status)
    .map(([code]) => code);

/** Words with what they say, in a line. */
const listed = (meanings: Readonly<Record<string, string>>, between = '; '): string =>
  Object.entries(meanings)
    .map(([code, meaning]) => `${code}: ${meaning}`)
    .join(between);

const detailSchema: Schema = {
  type: 'object',
  properties: {
    field: { type: 'string', description: 'The field, under the name that the request used' },
    code: {
      type: 'string',
      enum: Object.keys(faultMeanings),
      description: listed(faultMeanings),
    },
    message: { type: 'string', description: 'What is wrong, in words that follow the name of the field' },
    options: { type: 'array', items: { type: 'string' }, description: 'What would be valid, where that is few' },
  },
  required: ['field', 'code', 'message'],
};

const errorSchema: Schema = {
  type: 'object',
  description: 'The body of every error. Some errors of some operations carry more members, which stand with these.',
  properties: {
    error: { type: 'string', description: 'What is wrong, in words; names the field to blame' },
    code: { type: 'string', enum: Object.keys(statusOf), description: `What is wrong, for programs. ${listed(codeMeanings, '. ')}` },
    details: {
      type: 'array',
      description: 'Every field to blame',
      items: detailSchema,
    },
    requestId: { type: 'string', description: 'The X-Request-Id of the response' },
    retryAfter: { type: 'integer', minimum: 0, description: 'Seconds until a retry makes sense' },
    options: { type: 'array', items: { type: 'string' }, description: 'What would be valid, where the rule that is broken says so' },
  },
  required: ['error', 'code', 'requestId'],
};

const text = (description: string): Schema => ({ description, schema: { type: 'string' } });
const number = (description: string): Schema => ({ description, schema: { type: 'integer', minimum: 0 } });

const headers: Record<string, Schema> = {
  'X-Request-Id': text('The id of the request, taken over from the client when it is sane'),
  'X-RateLimit-Limit': number('How many requests the tightest bucket allows in its window'),
  'X-RateLimit-Remaining': number('How many are left'),
  'X-RateLimit-Reset': number('When the bucket is full again, a Unix timestamp'),
  'Retry-After': number('Seconds until a retry makes sense'),
  'X-Ignored-Fields': text('Members of the body that the operation does not know, percent-encoded and comma-separated'),
  'Idempotent-Replayed': text('true where the answer is the stored one of the first request with this Idempotency-Key'),
  'X-Total-Count': number('How many records there are in all'),
  'X-Page': number('The page number'),
  'X-Per-Page': number('The page size'),
  'X-Next-Cursor': text('What `cursor` takes for the page after this one; absent at the end'),
  'Set-Cookie': text('The session, service_session, where one begins or ends'),
  'Access-Control-Allow-Origin': text('* where pages of any origin may call'),
};

const always = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];
const headersNamed = (...names: string[]) => Object.fromEntries([...always, ...names].map((name) => [name, reference('headers', name)]));

const figures = {
  total: {
    type: ['integer', 'null'],
    minimum: 0,
    description: 'How many records there are in all, exactly unless count says otherwise; null with count=none',
  },
  totalPages: { type: ['integer', 'null'], minimum: 0, description: 'How many pages that makes; null with count=none' },
  next_cursor: { type: ['string', 'null'], description: 'Where the next page begins; null on the last one' },
};
const pageNumber = { type: 'integer', minimum: 1 };

/** An error's answer of a status; with what it tells besides, where that is more than every error tells. */
function errorAnswer(status: number, [, description]: [string, string], more?: { properties: Record<string, Schema>; required: string[] }) {
  const own = { type: 'object', properties: { code: { enum: codesOf(status) }, ...more?.properties } };
  const required = more && more.required.length > 0 ? { required: more.required } : {};
  return {
    description,
    headers: headersNamed(...(status === 429 || status === 503 ? ['Retry-After'] : [])),
    content: { 'application/json': { schema: { allOf: [reference('schemas', 'Error'), { ...own, ...required }] } } },
  };
}

/** The parts of the document that all operations share. */
export const sharedComponents = {
  headers,
  responses: Object.fromEntries(Object.entries(errorNames).map(([status, said]) => [said[0], errorAnswer(Number(status), said)])),
  schemas: {
    Error: errorSchema,
    Meta: holding({ page: pageNumber, per_page: pageNumber, ...figures }, { description: 'Where a page stands in its list' }),
    CamelMeta: holding({ page: pageNumber, perPage: pageNumber, ...figures }, { description: 'Where a page stands in its list' }),
  },
};

/** All responses of one operation: its success in the endpoint's envelope, and every error that it can answer. */
export function responsesOf(bound: BoundEndpoint, schemas: Schemas): Record<string, Schema> {
  const { endpoint, field } = bound;
  const responses: Record<string, Schema> = {};
  const looksAtBody = field !== undefined && endpoint.method !== 'GET';
  const extra = [
    ...(isRepeatable(bound) ? ['Idempotent-Replayed'] : []),
    ...(looksAtBody ? ['X-Ignored-Fields'] : []),
    ...(endpoint.pagingHeaders ? ['X-Total-Count', 'X-Page', 'X-Per-Page', 'X-Next-Cursor'] : []),
    ...(endpoint.setsCookie ? ['Set-Cookie'] : []),
    ...(endpoint.open ? ['Access-Control-Allow-Origin'] : []),
  ];
  for (const status of successStatuses(bound)) {
    responses[status] = {
      description: successWords[status] ?? 'Done',
      headers: headersNamed(...extra),
      content: {
        [endpoint.answers ?? 'application/json']: {
          schema: endpoint.handler ? (endpoint.answerSchema ?? { type: 'string' }) : body(bound, schemas),
        },
      },
    };
  }
  for (const status of errorStatuses(bound)) {
    const said = errorNames[status];
    if (!said) throw new Error(`${bound.address}: the document does not know the status ${status}`);
    const told = endpoint.tells?.[status];
    responses[status] = told ? errorAnswer(status, said, schemas.told(told)) : reference('responses', said[0]);
  }
  return responses;
}

const successWords: Record<number, string> = { 200: 'Done', 201: 'Made', 202: 'Taken on; the work goes on behind' };

/** What an endpoint answers, in the envelope that the contract names for it. */
function body(bound: BoundEndpoint, schemas: Schemas): Schema {
  const { endpoint, field, document } = bound;
  const selection = rootSelection(document!);
  const type = getNamedType(field!.type);
  const nodes = isObjectType(type) && type.getFields().pageInfo ? type.getFields().nodes : undefined;
  const records = () => schemas.result(nodes!.type, below(selection, 'nodes'));
  switch (endpoint.as) {
    case 'page':
      return holding({ data: holding({ data: records(), meta: metaOf(bound, schemas) }) });
    case 'flatPage':
      return holding({ data: records(), meta: reference('schemas', 'Meta') });
    case 'camelPage':
      return holding({ data: records(), meta: reference('schemas', 'CamelMeta') });
    case 'bare':
      return holding({ data: nodes ? records() : schemas.result(field!.type, selection) });
    case 'beside':
      return holding(schemas.beside(field!.type, selection!, endpoint.data!));
    default:
      return holding({
        data: endpoint.spread ? schemas.spread(field!.type, selection!, endpoint.spread) : schemas.result(field!.type, selection),
      });
  }
}

/** The meta of a page, with what always stands there besides, and what may be asked for. */
function metaOf({ endpoint, field, document }: BoundEndpoint, schemas: Schemas): Schema {
  const beside = [...(endpoint.beside ?? []), ...Object.keys(endpoint.extras ?? {})];
  if (beside.length === 0) return reference('schemas', 'Meta');
  const { properties, required, ...meta } = sharedComponents.schemas.Meta as { properties: Record<string, Schema>; required: string[] };
  const fields = (getNamedType(field!.type) as GraphQLObjectType).getFields();
  const schemaOf = (name: string) => schemas.result(fields[name]!.type, below(rootSelection(document!), name));
  const extras = beside.map((name) => [name, described(schemaOf(name), fields[name]!.description)]);
  return {
    ...meta,
    properties: { ...properties, ...Object.fromEntries(extras) },
    required: [...required, ...(endpoint.beside ?? [])],
  };
}
