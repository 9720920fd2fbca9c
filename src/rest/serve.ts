import type { GraphQLInputObjectType } from 'graphql';
import { getNamedType } from 'graphql';
import { mayRead } from '../kernel/access/access.js';
import { AppError, asUnprocessable, badRequest, notFound } from '../kernel/base/errors.js';
import { Printed, PrintedData, type PrintedField } from '../kernel/base/jsonText.js';
import type { Context } from '../kernel/context/context.js';
import { type Endpoint, membersVariable, pathArguments, type RawReply, type RawRequest } from '../kernel/module/routes.js';
import { causeOf, perform } from '../kernel/operations/operation.js';
import { type AdaptedBody, adaptBody } from './body.js';
import type { BoundEndpoint } from './endpoints.js';
import { type Envelope, envelope } from './envelope.js';
import { inClientNames } from './errors.js';
import { answerPage, type Read } from './largePages.js';
import { adaptInput, adaptQuery, withFixed } from './query.js';

/** The variables of an endpoint's operation, and what to know when answering. */
export interface Prepared {
  variables: Record<string, unknown>;
  names: ReadonlyMap<string, string>;
  ignored: string[];
}

/** Path, query and body as the operation's variables. */
export function prepare(bound: BoundEndpoint, request: RawRequest): Prepared {
  const variables: Record<string, unknown> = pathArguments(bound.endpoint, request.params);
  let names: ReadonlyMap<string, string> = new Map();
  let ignored: string[] = [];
  if (bound.endpoint.list) {
    const hasPages = bound.field?.args.some(({ name }) => name === 'page');
    const adapted = adaptQuery(bound.targets, request.query, hasPages);
    Object.assign(variables, withFixed(bound.endpoint, adapted.variables));
    names = adapted.names;
  }
  const inputArg = bound.field?.args.find((a) => a.name === 'input');
  if (inputArg) {
    const body = (bound.endpoint.forgiving ? readable : adapted)(
      bound,
      getNamedType(inputArg.type) as GraphQLInputObjectType,
      request.body,
    );
    variables.input = body.input;
    names = body.names;
    if (bound.endpoint.inputByQuery) {
      const asked = adaptInput(bound.targets, request.query);
      variables.input = { ...asked.input, ...body.input };
      names = new Map([...[...asked.names].filter(([member]) => !(member in body.input)), ...body.names]);
    }
    ignored = body.ignored;
  } else if (request.body !== undefined) {
    if (typeof request.body !== 'object' || request.body === null) throw badRequest('The body must be a JSON object');
    if (!Array.isArray(request.body)) ignored = Object.keys(request.body);
  }
  return { variables, names, ignored };
}

function adapted({ endpoint }: BoundEndpoint, type: GraphQLInputObjectType, body: unknown): AdaptedBody {
  try {
    return adaptBody(type, body, endpoint.body);
  } catch (error) {
    throw error instanceof AppError ? asAnswered(endpoint, error) : error;
  }
}

/** The error with the status that its endpoint gives invalid input. */
const asAnswered = (endpoint: Endpoint, error: AppError) => (endpoint.invalid === 422 ? asUnprocessable(error) : error);

/** The body if the operation can take it, else an empty one. */
function readable(bound: BoundEndpoint, type: GraphQLInputObjectType, body: unknown): AdaptedBody {
  try {
    const taken = adapted(bound, type, body);
    bound.operation().coerce({ input: taken.input });
    return taken;
  } catch {
    return { input: {}, ignored: [], names: new Map() };
  }
}

/** Runs a prepared endpoint and puts its result into the endpoint's envelope. Every refusal is thrown as an AppError. */
export const answer = (bound: BoundEndpoint, ctx: Context, prepared: Prepared): Promise<Envelope> =>
  inOwnWords(bound, prepared, async (variables) => envelope(bound.endpoint, await execute(bound, ctx, variables), variables));

/** Answers with a page, which may be large: `checkRights` throws where the portion that comes next must not be read. */
export const answerPaged = (bound: BoundEndpoint, ctx: Context, prepared: Prepared, checkRights: () => Promise<void>): Promise<Envelope> =>
  inOwnWords(bound, prepared, (asked) => {
    const read = (variables: object) => execute(bound, ctx, { ...asked, ...variables });
    return answerPage(bound.endpoint, { ctx, asked, read: read as Read, checkRights });
  });

/** What an endpoint answers, with what it ignored of the request; what it refuses is told by the names that the client used. */
async function inOwnWords(
  { endpoint }: BoundEndpoint,
  prepared: Prepared,
  run: (variables: Prepared['variables']) => Promise<Envelope>,
): Promise<Envelope> {
  try {
    const reply = await run(prepared.variables);
    if (prepared.ignored.length > 0) reply.headers['X-Ignored-Fields'] = headerList(prepared.ignored);
    return reply;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw asAnswered(endpoint, inClientNames(error, prepared.names));
  }
}

async function execute(bound: BoundEndpoint, ctx: Context, variables: Record<string, unknown>): Promise<unknown> {
  const operation = bound.operation();
  const given = bound.showsMembers ? { ...variables, [membersVariable]: mayRead(ctx.caller, 'users') } : variables;
  const { data, errors } = await perform(operation, ctx, given);
  if (errors?.length) throw causeOf(errors[0]!) ?? errors[0]!.originalError ?? errors[0];
  const answer = data instanceof PrintedData ? parted(data.fields[0]!) : (data as Record<string, unknown>)[operation.fields[0]!];
  return bound.connections.length > 0 ? flattened(answer, bound.connections) : answer;
}

/** What the database printed, taken apart as far as an envelope needs: of a page its records stay text. */
function parted({ text, members }: PrintedField): unknown {
  if (!members) return new Printed(text);
  const parts = members.map(({ key, text: part }) => [key, key === 'nodes' ? new Printed(part) : JSON.parse(part)] as const);
  return Object.fromEntries(parts);
}

/** A record whose pages of others are plain lists, as the contract shows them. */
function flattened(answer: unknown, names: readonly string[]): unknown {
  const record = (answer instanceof Printed ? answer.toJSON() : answer) as Record<string, unknown> | null;
  const lists = record && names.map((name) => [name, (record[name] as { nodes: unknown[] } | null)?.nodes ?? []]);
  return record && { ...record, ...Object.fromEntries(lists!) };
}

/** Bytes of a header that clients still take. */
const headerBytes = 4000;

/** Names as one header, as many as fit. */
function headerList(names: string[]): string {
  let list = '';
  for (const name of names) {
    // Half of a character, from the client or from the cut, has no encoding: it becomes the replacement character.
    const next = `${list && ', '}${encodeURIComponent(Buffer.from(name.slice(0, 100)).toString())}`;
    if (list.length + next.length > headerBytes) break;
    list += next;
  }
  return list;
}

/** Says of a retired endpoint what took its place. */
export function refuseRetired({ status, summary }: Endpoint): void {
  if (status === 410) throw new AppError('gone', summary?.replace(/^Retired\. /, '') ?? 'This endpoint is retired');
}

/** Runs an endpoint that has a handler of its own. */
export async function answerRaw(bound: BoundEndpoint, ctx: Context, request: RawRequest): Promise<RawReply> {
  const { endpoint } = bound;
  if (!endpoint.handler) throw notFound('Endpoint');
  if (bound.targets.size === 0) return endpoint.handler(ctx, request);
  const { variables, names } = adaptQuery(bound.targets, request.query);
  try {
    return await endpoint.handler(ctx, { ...request, args: variables });
  } catch (error) {
    throw error instanceof AppError ? inClientNames(error, names) : error;
  }
}
