import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
  visit,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { AppError, badRequest, check, unauthenticated } from '../kernel/base/errors.js';
import type { Context } from '../kernel/context/context.js';
import { toGraphQLError } from './errors.js';
import { costOf } from './guards.cost.js';
import { checkShape, checkText } from './guards.shape.js';

/** A request of GraphQL as it came, whichever transport brought it. */
export interface Incoming {
  query: string;
  operationName?: string | null;
  variables?: Readonly<Record<string, unknown>> | null;
}

/** The document of an admitted request, or why it is refused. */
export type Admission = { document: DocumentNode; errors?: undefined } | { document?: undefined; errors: GraphQLError[] };

/** A document that passed, kept for the next request with the same text. */
interface Passed {
  document: DocumentNode;
  introspects: boolean;
  /** Whether it is within the cost whatever its variables. */
  cheap: boolean;
}

// Texts, not documents, are what a cache can weigh: a document takes about a hundred times its text.
const maxText = 100_000;
const caches = new WeakMap<GraphQLSchema, LRUCache<string, Passed>>();

function cacheOf(schema: GraphQLSchema): LRUCache<string, Passed> {
  const known = caches.get(schema);
  if (known) return known;
  const made = new LRUCache<string, Passed>({ max: 1000, maxSize: 1_000_000, maxEntrySize: 20_000 });
  caches.set(schema, made);
  return made;
}

/**
 * The one gate of every GraphQL operation, over HTTP, WebSocket or SSE: parses, bounds, validates and weighs a document
 * (limits: `config.graphql`), cheapest first. Each transport calls it with what came in and the caller's context, runs
 * only the document that it gives back, and sends the errors otherwise; HTTP with the status of the first, at least 400.
 */
export function admit(schema: GraphQLSchema, { query, operationName, variables }: Incoming, ctx: Context): Admission {
  try {
    const cache = cacheOf(schema);
    const known = cache.get(query);
    const passed = known ?? pass(schema, query, ctx);
    if (!known) cache.set(query, passed, { size: query.length + 1 });
    if (passed.introspects && isStranger(ctx)) throw ctx.request.refusal ?? unauthenticated('Introspection needs credentials here');
    const operation = getOperationAST(passed.document, operationName);
    check(operation, () => badRequest(operationName ? `There is no operation called ${operationName}` : 'Name the operation to run'));
    if (!passed.cheap) checkCost(costOf(schema, passed.document, operation, variables ?? {}), ctx);
    return { document: passed.document };
  } catch (error) {
    return { errors: asErrors(error, ctx) };
  }
}

/** Outside production nobody is a stranger; in it, who comes without credentials is. */
const isStranger = (ctx: Context) => ctx.app.config.production && !ctx.principal;

function checkCost(cost: number, { app }: Context): void {
  const most = app.config.graphql.cost;
  check(cost <= most, () => badRequest(`The operation may read ${cost} records; at most ${most} are allowed. Ask for smaller pages`));
}

class Invalid extends Error {
  constructor(readonly errors: readonly GraphQLError[]) {
    super('invalid document');
  }
}

function pass(schema: GraphQLSchema, query: string, ctx: Context): Passed {
  const limits = ctx.app.config.graphql;
  check(query.length <= maxText, () => badRequest(`The document is longer than ${maxText} characters; pass values as variables`));
  checkText(query, limits);
  const document = parse(query);
  checkShape(document, limits);
  const errors = validate(schema, document, undefined, { maxErrors: 10 });
  if (errors.length > 0) throw new Invalid(errors);
  const operations = document.definitions.filter((d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION);
  const cheap = operations.every((operation) => costOf(schema, document, operation) <= limits.cost);
  return { document, introspects: introspects(document), cheap };
}

function introspects(document: DocumentNode): boolean {
  let found = false;
  visit(document, {
    Field: ({ name }) => {
      found ||= name.value === '__schema' || name.value === '__type';
    },
  });
  return found;
}

function asErrors(error: unknown, ctx: Context): GraphQLError[] {
  if (error instanceof AppError) return [toGraphQLError(error, ctx.request.id)];
  const errors = error instanceof Invalid ? error.errors : error instanceof GraphQLError ? [error] : undefined;
  if (!errors) throw error;
  const extensions = { code: 'invalid_request', status: 400, requestId: ctx.request.id };
  return errors.map(({ message, nodes, source, positions }) => {
    const text = isStranger(ctx) ? message.replace(/ Did you mean .*\?$/s, '') : message;
    return new GraphQLError(text, { nodes, source, positions, extensions });
  });
}
