import {
  type DocumentNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  separateOperations,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { markOf } from '../kernel/access/access.js';
import type { GraphQLLimits } from '../kernel/base/config.js';
import { AppError, badRequest, check, type Detail, unauthenticated } from '../kernel/base/errors.js';
import { excerpt } from '../kernel/base/jsonText.js';
import type { Context } from '../kernel/context/context.js';
import { fieldsIn, fragmentsOf } from '../kernel/model/selections.js';
import { toGraphQLError } from './errors.js';
import { type Cost, costOf } from './guards.cost.js';
import { detailsOf } from './guards.place.js';
import { checkShape, checkText } from './guards.shape.js';
import { checkVariables } from './guards.variables.js';
import { checkRootField } from './subscriptions.root.js';

/** A request of GraphQL as it came, whichever transport brought it. */
export interface Incoming {
  query: string;
  operationName?: string | null;
  variables?: Readonly<Record<string, unknown>> | null;
}

/** The document of an admitted request and what it may cost, or why it is refused. */
export type Admission =
  | { document: DocumentNode; operation: OperationDefinitionNode; estimated: number; errors?: undefined }
  | { document?: undefined; operation?: undefined; estimated: number; errors: GraphQLError[] };

/** A document that passed, kept for the next request with the same text. */
interface Passed {
  document: DocumentNode;
  /** Whether all of its root fields are public: no credentials are needed. */
  isPublic: boolean;
  /** The costs of its operations that are the same whatever the variables. */
  costs: Map<OperationDefinitionNode, Cost>;
  /** Each of its operations alone. */
  own: Map<OperationDefinitionNode, DocumentNode>;
}

/** A document that was refused, and so is again. */
interface Refused {
  refusal: Refusal;
  /** Whether all of its root fields are public; undefined where it was refused before that was looked up. */
  isPublic?: boolean;
}

type Refusal = AppError | Invalid | GraphQLError;

const isRefusal = (error: unknown): error is Refusal =>
  error instanceof AppError || error instanceof Invalid || error instanceof GraphQLError;

// Texts, not documents, are what a cache can weigh: a document takes about a hundred times its text.
const maxText = 100_000;
// A server has its own limits, and so its own cache.
const caches = new WeakMap<GraphQLLimits, LRUCache<string, Passed | Refused>>();

function cacheOf({ app }: Context): LRUCache<string, Passed | Refused> {
  const limits = app.config.graphql;
  const kept = caches.get(limits);
  if (kept) return kept;
  const made = new LRUCache<string, Passed | Refused>({ max: 1000, maxSize: 1_000_000, maxEntrySize: 20_000 });
  caches.set(limits, made);
  return made;
}

/**
 * The one gate of every GraphQL operation, over HTTP, WebSocket or SSE: parses, bounds, validates and weighs a document
 * (limits: `config.graphql`), cheapest first. Each transport calls it with what came in and the caller's context, runs
 * only the document that it gives back, and sends the errors otherwise; HTTP with the status of the first, at least 400.
 */
export function admit(schema: GraphQLSchema, { query, operationName, variables }: Incoming, ctx: Context): Admission {
  let estimated = 0;
  try {
    const passed = known(query, ctx) ?? pass(schema, query, ctx);
    checkVariables(variables ?? {});
    const { costs } = passed;
    const operation = getOperationAST(passed.document, operationName);
    check(operation, () =>
      badRequest(operationName ? `There is no operation called ${short(operationName)}` : 'Name the operation to run'),
    );
    const cost = costs.get(operation) ?? costOf(schema, passed.document, operation, variables ?? {});
    if (!cost.varies) costs.set(operation, cost);
    estimated = cost.records;
    checkCost(cost, operation, ctx);
    return { document: ownOf(passed, operation), operation, estimated };
  } catch (error) {
    return { estimated, errors: asErrors(error, ctx) };
  }
}

/** An operation and the fragments that it reaches: what others of the document need and say is no matter of it. */
function ownOf({ document, own }: Passed, operation: OperationDefinitionNode): DocumentNode {
  const known = own.get(operation);
  if (known) return known;
  const isAlone = document.definitions.every((definition) => definition === operation || definition.kind !== Kind.OPERATION_DEFINITION);
  const made = isAlone ? document : separateOperations(document)[operation.name?.value ?? '']!;
  own.set(operation, made);
  return made;
}

/** Outside production nobody is a stranger; in it, who comes without credentials is. */
const isStranger = (ctx: Context) => ctx.app.config.production && !ctx.principal;

/** Throws 400 for an operation that could read too much, a subscription at each of its events, naming where most of it is. */
function checkCost({ records, dearest, most: dear, paged }: Cost, { operation }: OperationDefinitionNode, { app }: Context): void {
  const { cost, eventCost } = app.config.graphql;
  const [most, setting, when] =
    operation === OperationTypeNode.SUBSCRIPTION
      ? ([eventCost, 'GRAPHQL_MAX_EVENT_COST', ' at each event'] as const)
      : ([cost, 'GRAPHQL_MAX_COST', ''] as const);
  const told = `The operation may read ${records} records${when}; at most ${most} are allowed. Most of them are at ${dearest} (${dear})`;
  const more = { limit: 'cost', setting, most, path: dearest };
  const advice = paged ? `ask for smaller pages of ${paged}` : 'select less there';
  check(records <= most, () => new AppError('invalid_request', `${told}: ${advice}`, { more }));
}

/** What a refusal quotes of a request, in code points: a name, or a text in the place of one, may be as long as the document. */
const mostQuoted = 1000;
const short = (text: string) => excerpt(text, mostQuoted) as string;

const withShortField = (detail: Detail | undefined): Detail | undefined => detail && { ...detail, field: short(detail.field) };

class Invalid extends Error {
  readonly errors: GraphQLError[];

  constructor(schema: GraphQLSchema, document: DocumentNode, errors: readonly GraphQLError[]) {
    super('invalid document');
    const details = detailsOf(schema, document, errors);
    // Without their nodes, which hold the whole document.
    this.errors = errors.map(({ message, source, positions }, i) => {
      const detail = withShortField(details[i]);
      const told = detail
        ? { message: `${detail.field}: ${message}`, extensions: { field: detail.field, details: [detail] } }
        : { message };
      return new GraphQLError(told.message, { source, positions, extensions: told.extensions });
    });
  }
}

/** What is known of a document from the last time, if anything; throws what it was refused for. */
function known(query: string, ctx: Context): Passed | undefined {
  const kept = cacheOf(ctx).get(query);
  if (!kept) return undefined;
  if (kept.isPublic !== undefined) checkCaller(ctx, kept.isPublic);
  if ('refusal' in kept) throw kept.refusal;
  return kept;
}

/** Whoever has no credentials learns nothing of a document that needs some, and has nobody work on it. */
function checkCaller(ctx: Context, isPublic: boolean): void {
  if (!isPublic && !ctx.principal) throw ctx.request.refusal ?? unauthenticated();
}

function pass(schema: GraphQLSchema, query: string, ctx: Context): Passed {
  const keep = <K extends Passed | Refused>(kept: K): K => {
    cacheOf(ctx).set(query, kept, { size: query.length + 1 });
    return kept;
  };
  let isPublic: boolean | undefined;
  try {
    const limits = ctx.app.config.graphql;
    check(query.length <= maxText, () => badRequest(`The document is longer than ${maxText} characters; pass values as variables`));
    checkText(query, limits);
    const document = parse(query);
    checkShape(document, limits);
    isPublic = needsNobody(schema, document, ctx.app.config.production);
    checkCaller(ctx, isPublic);
    checkRootField(document);
    const errors = validate(schema, document, undefined, { maxErrors: 10 });
    if (errors.length > 0) throw new Invalid(schema, document, errors);
    return keep({ document, isPublic, costs: new Map(), own: new Map() });
  } catch (refusal) {
    // Who may not ask is the caller's matter: only what is wrong with the document is remembered of it.
    if (isRefusal(refusal) && (!(refusal instanceof AppError) || refusal.code === 'invalid_request')) keep({ refusal, isPublic });
    throw refusal;
  }
}

/** Whether every root field is public; introspection is, outside production. */
function needsNobody(schema: GraphQLSchema, document: DocumentNode, isProduction: boolean): boolean {
  const fragments = fragmentsOf(document);
  const isPublic = (root: GraphQLObjectType | null | undefined, name: string): boolean => {
    if (name.startsWith('__')) return name === '__typename' || !isProduction;
    const field = root?.getFields()[name];
    return field ? markOf(field).public === true : false;
  };
  return document.definitions.every((d) => {
    if (d.kind !== Kind.OPERATION_DEFINITION) return true;
    const root = schema.getRootType(d.operation);
    return [...fieldsIn(fragments, d.selectionSet)].every(({ name }) => isPublic(root, name.value));
  });
}

/** A message without what it says at its end that there is instead. What it quotes may be as long as the document, and say the same. */
function withoutHint(message: string): string {
  const at = message.lastIndexOf(' Did you mean ');
  return at >= 0 && message.endsWith('?') ? message.slice(0, at) : message;
}

function asErrors(error: unknown, ctx: Context): GraphQLError[] {
  if (error instanceof AppError) return [toGraphQLError(error, ctx.request.id)];
  const errors = error instanceof Invalid ? error.errors : error instanceof GraphQLError ? [error] : undefined;
  if (!errors) throw error;
  const common = { code: 'invalid_request', status: 400, requestId: ctx.request.id };
  return errors.map(({ message, source, positions, extensions }) => {
    // What there is instead is no stranger's to learn.
    const text = short(isStranger(ctx) ? withoutHint(message) : message);
    // Nor are the values that may be given.
    const own = isStranger(ctx) ? { ...extensions, details: undefined } : extensions;
    return new GraphQLError(text, { source, positions, extensions: { ...common, ...own } });
  });
}
