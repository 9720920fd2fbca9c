import type { GraphQLInputObjectType } from 'graphql';
import { getNamedType } from 'graphql';
import { allow } from '../kernel/access/access.js';
import { AppError, asUnprocessable, badRequest, notFound } from '../kernel/base/errors.js';
import { Printed, PrintedData, type PrintedField } from '../kernel/base/jsonText.js';
import type { Context } from '../kernel/context/context.js';
import { pathArguments, type RawReply, type RawRequest, type Row } from '../kernel/module/routes.js';
import { causeOf, run } from '../kernel/operations/operation.js';
import { type AdaptedBody, adaptBody } from './body.js';
import { type Envelope, envelope } from './envelope.js';
import { inClientNames } from './errors.js';
import { adaptInput, adaptQuery, withFixed } from './query.js';
import type { MountedRow } from './table.js';

/** The variables of a row's operation, and what to know when answering. */
export interface Prepared {
  variables: Record<string, unknown>;
  names: ReadonlyMap<string, string>;
  ignored: string[];
}

/** Path, query and body as the operation's variables; access is decided before anything is looked at. */
export function prepare(mounted: MountedRow, ctx: Context, request: RawRequest): Prepared {
  allow(ctx, mounted.needs);
  const variables: Record<string, unknown> = pathArguments(mounted.row, request.params);
  let names: ReadonlyMap<string, string> = new Map();
  let ignored: string[] = [];
  if (mounted.row.list) {
    const hasPages = mounted.field?.args.some(({ name }) => name === 'page');
    const adapted = adaptQuery(mounted.sources, request.query, hasPages);
    Object.assign(variables, withFixed(mounted.row, adapted.variables));
    names = adapted.names;
  }
  const inputArg = mounted.field?.args.find((a) => a.name === 'input');
  if (inputArg) {
    const body = (mounted.row.forgiving ? readable : adapted)(mounted, getNamedType(inputArg.type) as GraphQLInputObjectType, request.body);
    variables.input = body.input;
    if (mounted.row.inputByQuery) {
      const asked = adaptInput(mounted.sources, request.query);
      variables.input = { ...asked.input, ...body.input };
      names = new Map([...asked.names].filter(([member]) => !(member in body.input)));
    }
    ignored = body.ignored;
  } else if (request.body !== undefined && (typeof request.body !== 'object' || request.body === null)) {
    throw badRequest('The body must be a JSON object');
  }
  return { variables, names, ignored };
}

function adapted({ row }: MountedRow, type: GraphQLInputObjectType, body: unknown): AdaptedBody {
  try {
    return adaptBody(type, body, row.body);
  } catch (error) {
    throw error instanceof AppError ? asAnswered(row, error) : error;
  }
}

/** The error with the status that its row gives invalid input. */
const asAnswered = (row: Row, error: AppError) => (row.invalid === 422 ? asUnprocessable(error) : error);

/** The body if the operation can take it, else an empty one. */
function readable(mounted: MountedRow, type: GraphQLInputObjectType, body: unknown): AdaptedBody {
  try {
    const taken = adapted(mounted, type, body);
    mounted.operation().coerce({ input: taken.input });
    return taken;
  } catch {
    return { input: {}, ignored: [] };
  }
}

/** Runs a prepared row and puts its result into the row's envelope. Every refusal is thrown as an AppError. */
export async function answer(mounted: MountedRow, ctx: Context, prepared: Prepared): Promise<Envelope> {
  const { row } = mounted;
  try {
    const result = await ran(mounted, ctx, prepared.variables);
    const reply = envelope(row, result, prepared.variables as { page?: number; perPage?: number });
    if (prepared.ignored.length > 0) reply.headers['X-Ignored-Fields'] = headerList(prepared.ignored);
    return reply;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw asAnswered(row, inClientNames(error, prepared.names));
  }
}

async function ran(mounted: MountedRow, ctx: Context, variables: Record<string, unknown>): Promise<unknown> {
  const operation = mounted.operation();
  const { data, errors } = await run(operation, ctx, variables);
  if (errors?.length) throw causeOf(errors[0]!) ?? errors[0]!.originalError ?? errors[0];
  const answer = data instanceof PrintedData ? parted(data.fields[0]!) : (data as Record<string, unknown>)[operation.fields[0]!];
  return mounted.connections.length > 0 ? flattened(answer, mounted.connections) : answer;
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

/** Says of a retired row what took its place. */
export function refuseRetired({ status, summary }: Row): void {
  if (status === 410) throw new AppError('gone', summary?.replace(/^Retired\. /, '') ?? 'This endpoint is retired');
}

/** Runs a row that has a handler of its own. */
export async function answerRaw(mounted: MountedRow, ctx: Context, request: RawRequest): Promise<RawReply> {
  allow(ctx, mounted.needs);
  const { row } = mounted;
  if (!row.handler) throw notFound('Endpoint');
  if (mounted.sources.size === 0) return row.handler(ctx, request);
  const { variables, names } = adaptQuery(mounted.sources, request.query);
  try {
    return await row.handler(ctx, { ...request, args: variables });
  } catch (error) {
    throw error instanceof AppError ? inClientNames(error, names) : error;
  }
}
