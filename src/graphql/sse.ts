import { type Duplex, Readable } from 'node:stream';
import type { ApolloServer } from '@apollo/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { type AppError, badRequest } from '../kernel/base/errors.js';
import { drained, fullBytes, isCrowded } from './backpressure.js';
import { toGraphQLError } from './errors.js';
import type { Message } from './message.js';
import { refuse } from './mount.js';
import type { DocumentRequest, PersistedDocuments } from './persisted.js';
import type { GraphQLContext } from './server.js';
import type { Callers } from './subscriptions.callers.js';
import type { Sink } from './subscriptions.group.js';
import type { Subscriptions } from './subscriptions.js';

const keepAliveMs = 12_000;

/**
 * One subscription as an event stream (GraphQL over SSE, distinct connections mode). Each result is an event `next` whose
 * SSE id is its position in the feed, so that a browser's EventSource goes on where it was.
 */
class EventStream extends Readable implements Sink {
  #end?: () => void;
  readonly #pulse = setInterval(() => this.push(':\n\n'), keepAliveMs).unref();

  constructor(
    private readonly requestId: string,
    private readonly line: Duplex,
  ) {
    super();
  }

  /** What ends with the stream. */
  onEnd(work: () => void): void {
    if (this.destroyed || this.readableEnded) work();
    else this.#end = work;
  }

  override _read(): void {}

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#pulse);
    this.#end?.();
    done(error);
  }

  send({ text }: Message, position: string): void {
    this.#send(text, position);
  }

  isCrowded(): boolean {
    return !this.destroyed && isCrowded(this.readableLength);
  }

  #send(text: string, position?: string): void {
    if (this.destroyed || this.readableEnded) return;
    if (this.readableLength > fullBytes) this.destroy();
    else this.push(`event: next\n${position === undefined ? '' : `id: ${position}\n`}data: ${onOneLine(text)}\n\n`);
  }

  drained(): Promise<void> {
    const { line } = this;
    return drained({ isOpen: () => !this.destroyed, unread: () => this.readableLength, line, giveUp: () => this.destroy() });
  }

  /**
   * The server ends it, and says why. After `complete` no client comes back, so there is none where it may: when the server stops, or
   * cannot serve it for now.
   */
  fail(reason: AppError): void {
    const isForGood = reason.code !== 'unavailable';
    if (isForGood) this.#send(JSON.stringify({ errors: [toGraphQLError(reason, this.requestId)] }));
    if (this.destroyed || this.readableEnded) return;
    if (isForGood) this.push('event: complete\ndata: \n\n');
    this.#end?.();
    this.#end = undefined;
    clearInterval(this.#pulse);
    this.push(null);
  }
}

/** JSON without line breaks, which would end the field of an event: PostgreSQL writes them between values, and no text in JSON has one. */
const onOneLine = (json: string) => json.replaceAll(/[\r\n]/g, ' ');

export interface StreamEndpoint {
  apollo: ApolloServer<GraphQLContext>;
  persisted: PersistedDocuments;
  subscriptions: Subscriptions;
  callers: Callers;
}

/** Subscriptions over Server-Sent Events at `/graphql/stream`. */
export function mountStream(server: FastifyInstance, endpoint: StreamEndpoint): void {
  server.route({
    method: ['GET', 'POST'],
    url: '/graphql/stream',
    exposeHeadRoute: false,
    config: { route: '/graphql/stream', graphql: true },
    handler: (request, reply) => serve(endpoint, request, reply),
  });
}

async function serve({ apollo, persisted, subscriptions, callers }: StreamEndpoint, request: FastifyRequest, reply: FastifyReply) {
  const { ctx, gate } = request;
  const resumeAfter = lastEventId(request);
  let asked: ReturnType<typeof paramsOf>;
  try {
    asked = paramsOf(request, persisted);
  } catch (error) {
    if (error instanceof GraphQLError) return refuse(error, request, reply);
    throw error;
  }
  const stream = new EventStream(ctx.request.id, request.raw.socket);
  let opened = false;
  let isOver = false;
  const subscribe: GraphQLContext['subscribe'] = async (begun) => {
    const stop = await subscriptions.open(ctx, { ...begun, resumeAfter }, stream);
    isOver = !stop;
    if (!stop) return;
    stream.onEnd(stop);
    const leave = callers.add({ principal: ctx.caller, ip: ctx.request.ip, end: (reason) => stream.fail(reason) });
    stream.onEnd(() => {
      stop();
      leave();
    });
    opened = true;
  };
  const contextValue = { ctx, gate, subscribe, subscribesOnly: true };
  const { body, http } = await apollo.executeOperation(asked, { contextValue }).catch((error: unknown) => {
    stream.destroy();
    throw error;
  });
  if (!opened) {
    stream.destroy();
    const status = http.status ?? 200;
    const result = body.kind === 'single' ? body.singleResult : {};
    if (status >= 400) {
      reply.status(status).headers(Object.fromEntries(http.headers));
      return result;
    }
    reply.type(eventStream);
    const told = isOver ? '' : `event: next\ndata: ${JSON.stringify(result)}\n\n`;
    return `${told}event: complete\ndata: \n\n`;
  }
  reply.raw.once('close', () => stream.destroy());
  stream.push(':\n\n');
  reply.type(eventStream).header('X-Accel-Buffering', 'no');
  return stream;
}

const eventStream = 'text/event-stream; charset=utf-8';

/** Where a browser's EventSource was when its connection broke. */
const lastEventId = (request: FastifyRequest) => {
  const id = request.headers['last-event-id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
};

function paramsOf(request: FastifyRequest, persisted: PersistedDocuments) {
  const given = (request.method === 'GET' ? request.query : request.body) as Record<string, unknown> | null | undefined;
  const { operationName, variables, documentId } = given ?? {};
  const extensions = objectOf('extensions', given?.extensions) as DocumentRequest['extensions'];
  const query = persisted.textOf({ query: given?.query, documentId, extensions }, request.ctx.principal !== null);
  if (typeof query !== 'string') throw badRequest('query must be the text of a GraphQL document');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    throw badRequest('operationName must be text');
  return { query, operationName: operationName ?? undefined, variables: objectOf('variables', variables) };
}

function objectOf(name: string, given: unknown): Record<string, unknown> | undefined {
  if (given === undefined || given === null || given === '') return undefined;
  const fault = () => badRequest(`${name} must be a JSON object`);
  let value = given;
  if (typeof given === 'string') {
    try {
      value = JSON.parse(given);
    } catch {
      throw fault();
    }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault();
  return value as Record<string, unknown>;
}
