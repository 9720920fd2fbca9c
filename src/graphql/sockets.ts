import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ApolloServer } from '@apollo/server';
import { type ExecutionArgs, GraphQLError, type GraphQLFormattedError, parse } from 'graphql';
import { handleProtocols, makeServer, type Server as Protocol, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { clientAddress } from '../http/address.js';
import { RateGate } from '../http/limits.js';
import { isOwnOrigin } from '../http/origin.js';
import { sessionCookie } from '../http/server.js';
import { isSuspended } from '../kernel/access/access.js';
import { clientKey } from '../kernel/access/clientKey.js';
import { limited } from '../kernel/access/rateLimits.js';
import { minuteMs } from '../kernel/base/durations.js';
import { type AppError, badRequest, unauthenticated, unavailable } from '../kernel/base/errors.js';
import { EventLoopQueue } from '../kernel/base/eventLoop.js';
import type { Credentials, Identified, Identify } from '../kernel/context/callers.js';
import { type App, Context, type RequestInfo } from '../kernel/context/context.js';
import { logUnavailable, warnThrottled } from '../kernel/context/unavailableLog.js';
import { fromDatabase } from '../kernel/database/errors.js';
import { toGraphQLError } from './errors.js';
import { mostStateBytes } from './live.clientState.js';
import { type PersistedDocuments, withoutHash } from './persisted.js';
import { type GraphQLContext, refusalOf } from './server.js';
import { Connection, messageBytes, SubscriptionChannel } from './sockets.connection.js';
import { Strangers } from './sockets.strangers.js';
import type { Callers } from './subscriptions.callers.js';
import type { Subscriptions } from './subscriptions.js';

const path = '/graphql';
/** The largest message: a document with its variables, and what a live query that resumes says that it has. */
const frameBytes = messageBytes + mostStateBytes;
/** Operations that one socket may have running at a time. */
const operationsPerSocket = 50;
const initWaitMs = 3000;
const pulseMs = 15_000;

// graphql-ws looks at the document only for its kind: what it executes and subscribes to is ours.
const aQuery = parse('{ __typename }');
const aSubscription = parse('subscription { events { id } }');

export interface SocketEndpoint {
  app: App;
  apollo: ApolloServer<GraphQLContext>;
  persisted: PersistedDocuments;
  identify: Identify;
  subscriptions: Subscriptions;
  callers: Callers;
}

interface Extra {
  connection: Connection;
  /** Notes a use of what it was opened with. */
  noteUse?: () => Promise<void>;
}

/** GraphQL over WebSocket (graphql-transport-ws) at `/graphql`: graphql-ws keeps the protocol, Apollo and `run` the rules. */
export class Sockets {
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: frameBytes,
    perMessageDeflate: false,
    autoPong: false,
    handleProtocols,
  });
  readonly #connections = new Set<Connection>();
  readonly #strangers: Strangers;
  readonly #protocol: Protocol<Extra>;
  readonly #pulse: NodeJS.Timeout;

  constructor(
    private readonly endpoint: SocketEndpoint,
    http: Server,
  ) {
    this.#protocol = protocolOf(endpoint);
    this.#strangers = new Strangers(endpoint.app.config.limits);
    http.on('upgrade', (request, socket, head) => {
      try {
        this.#upgrade(request, socket, head);
      } catch (error) {
        // Nobody stands above this listener: what it threw would end the process.
        endpoint.app.log.error({ err: error }, 'an upgrade failed');
        socket.destroy();
      }
    });
    this.#pulse = setInterval(() => {
      for (const connection of this.#connections) connection.pulse();
    }, pulseMs).unref();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer) {
    const { app } = this.endpoint;
    socket.on('error', () => socket.destroy());
    const limits = new RateGate(app.limiter).headers();
    if (request.url?.split('?')[0] !== path) return refuse(socket, 404, 'Not Found', limits);
    if (!app.ready || app.stopping) return refuse(socket, 503, 'Service Unavailable', limits);
    const caller = {
      authorization: request.headers.authorization,
      cookie: cookieOf(request),
      ip: clientAddress(request, app.config.trustProxy),
    };
    const { origin, host } = request.headers;
    // A browser sends the cookie whatever page opens the socket: only our own pages may.
    if (caller.cookie && !caller.authorization && !(origin && isOwnOrigin(origin, host, app.config))) {
      return refuse(socket, 403, 'Forbidden', limits);
    }
    if (this.#strangers.isFull(caller.ip)) return refuse(socket, 429, 'Too Many Requests', { ...limits, 'Retry-After': '1' });
    this.#server.handleUpgrade(request, socket, head, (ws) =>
      this.#open(ws, socket, { ...caller, userAgent: request.headers['user-agent'] }),
    );
  }

  #open(ws: WebSocket, line: Duplex, caller: Connection['caller']): void {
    const known = this.#strangers.add(caller.ip);
    const failed = (error: unknown) => this.endpoint.app.log.error({ err: error }, 'a socket failed');
    const connection = new Connection(ws, line, caller, known, failed);
    this.#connections.add(connection);
    const closed = this.#protocol.opened(connection.adapter(), { connection });
    connection.onClosed((code, reason) => {
      void closed(code, reason);
    });
    ws.once('close', () => {
      known();
      this.#connections.delete(connection);
    });
  }

  /** Closes every socket as a server does that goes away. */
  async close(): Promise<void> {
    clearInterval(this.#pulse);
    this.#server.close();
    await Promise.all([...this.#connections].map((connection) => connection.close(1001, 'The server is stopping')));
  }
}

function refuse(socket: Duplex, status: number, text: string, limits: Record<string, string>): void {
  const shown = Object.entries(limits).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${text}\r\n${shown.join('')}Connection: close\r\nContent-Length: 0\r\n\r\n`);
}

function cookieOf(request: IncomingMessage): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value] = part.split('=', 2);
    if (name?.trim() === sessionCookie && value) return value.trim();
  }
  return undefined;
}

function protocolOf(endpoint: SocketEndpoint): Protocol<Extra> {
  const eventLoop = new EventLoopQueue();
  return makeServer<Record<string, unknown>, Extra>({
    connectionInitWaitTimeout: initWaitMs,
    onConnect: ({ connectionParams, extra }) => connect(endpoint, extra, connectionParams),
    onSubscribe: ({ extra, subscriptions }, id, payload) =>
      begin(endpoint, extra, { id, payload, eventLoop, running: Object.keys(subscriptions).length }),
    execute: ({ contextValue }) => (contextValue as { result: object }).result,
    subscribe: ({ contextValue }) => (contextValue as { stream: AsyncIterable<never> }).stream,
    // The result as it is: it is printed already.
    onNext: (_ctx, _id, _payload, { contextValue }) => (contextValue as { result: object }).result as never,
  });
}

/** Who connects: by the Authorization of `connection_init` or of the upgrade, else by the session cookie. Else the socket is closed. */
async function connect(endpoint: SocketEndpoint, extra: Extra, params: Record<string, unknown> | undefined): Promise<boolean> {
  const { app, identify, callers } = endpoint;
  const { connection } = extra;
  const { caller } = connection;
  const given = params?.Authorization ?? params?.authorization ?? caller.authorization;
  const authorization = typeof given === 'string' ? given : undefined;
  try {
    const cookie = authorization === undefined ? caller.cookie : undefined;
    const isNobody = authorization === undefined && !cookie;
    const credentials = { authorization, cookie, ip: caller.ip, isSocket: true };
    const { principal, refusal } = isNobody ? nobody : await identify(app, credentials);
    if (!principal) throw await refused(app, caller.ip, refusal ?? unauthenticated());
    if (principal.isSuspended) throw await refused(app, caller.ip, isSuspended());
    if (!connection.isOpen) return false;
    connection.admit(callers, principal);
    extra.noteUse = noterOf(endpoint, credentials);
    return true;
  } catch (error) {
    const known = fromDatabase(error);
    if (known) {
      logUnavailable(app, known);
      connection.end(known);
    } else connection.fault(error);
    return false;
  }
}

const nobody: Identified = { principal: null };

/**
 * Notes a use of credentials, once a minute at most: an operation over a socket keeps a session, or a key, from lapsing as a request does.
 * It is served whether or not that is noted.
 */
function noterOf({ app, identify }: SocketEndpoint, credentials: Credentials): () => Promise<void> {
  const now = () => app.clock.now().getTime();
  let notedAt = now();
  return async () => {
    if (Math.abs(now() - notedAt) <= minuteMs) return;
    notedAt = now();
    await identify(app, credentials).catch((error) => warnThrottled(app, error, 'the use of a session or key could not be noted'));
  };
}

/**
 * Why somebody may not connect, or 429 after too many from the address: as many as requests without a key, and counted apart from
 * these. A page whose session has ended tries again for as long as it is open, and takes nothing from the others of its address.
 */
async function refused(app: App, ip: string, refusal: AppError): Promise<AppError> {
  const spent = await app.limiter.spend('general', `socket:${clientKey(ip)}`);
  return spent.refused ? limited(spent) : refusal;
}

interface Begun {
  id: string;
  payload: SubscribePayload;
  running: number;
  /** A client may send many documents at once, and each is parsed and validated without a pause. */
  eventLoop: EventLoopQueue;
}

type Answer = ExecutionArgs | readonly GraphQLError[];

/** Runs an operation, by the rules of every other transport, or begins a subscription. */
async function begin(endpoint: SocketEndpoint, { connection, noteUse }: Extra, begun: Begun): Promise<Answer> {
  const { app, persisted } = endpoint;
  const { id, payload, running, eventLoop } = begun;
  const info: RequestInfo = { id: randomUUID(), ip: connection.caller.ip, userAgent: connection.caller.userAgent };
  const ctx = new Context(app, info, connection.principal);
  const gate = new RateGate(app.limiter);
  const channel = new SubscriptionChannel(connection, id, info.id);
  let query: unknown;
  let refusal: GraphQLError | undefined;
  try {
    if (running > operationsPerSocket) throw badRequest(`A socket may have ${operationsPerSocket} operations running`);
    await gate.enter(ctx, { graphql: true });
    await noteUse?.();
    await eventLoop.next();
    query = persisted.textOf(payload, true);
  } catch (error) {
    refusal = error instanceof GraphQLError ? error : toGraphQLError(refusalOf(error, ctx), info.id);
  }
  const asked = { ctx, gate, channel, payload: { ...payload, query: query as string } };
  const answer = refusal ? [refusal] : await answerOf(endpoint, connection, asked);
  if (!channel.isOpen) connection.ended(id, channel);
  // What graphql-ws does with the answer of one that is over would be done to whoever has the id by now.
  if (channel.isOver && connection.isOpen) await new Promise(() => {});
  return answer;
}

interface Asked {
  ctx: Context;
  gate: RateGate;
  channel: SubscriptionChannel;
  payload: SubscribePayload;
}

async function answerOf(
  { apollo, subscriptions }: SocketEndpoint,
  connection: Connection,
  { ctx, gate, channel, payload }: Asked,
): Promise<Answer> {
  let isSubscription = false;
  const subscribe: GraphQLContext['subscribe'] = async (asked) => {
    isSubscription = true;
    const stop = await subscriptions.open(ctx, asked, channel);
    if (stop) channel.begun(stop);
    else channel.complete();
  };
  const { query, operationName, variables, extensions } = payload;
  const request = {
    query,
    operationName: operationName ?? undefined,
    variables: variables ?? undefined,
    extensions: withoutHash(extensions ?? {}),
  };
  const { body } = await apollo.executeOperation(request, { contextValue: { ctx, gate, subscribe, setsNoCookie: true } });
  const result = body.kind === 'single' ? body.singleResult : {};
  if (channel.isOpen) return { schema: undefined as never, document: aSubscription, contextValue: { stream: channel.stream() } };
  // Clients come back after a closed socket, never after a subscription that was refused.
  if (isSubscription && result.errors?.some(isUnavailable)) connection.end(unavailable());
  if (result.data === undefined || result.data === null) return (result.errors ?? []).map(asError);
  return { schema: undefined as never, document: aQuery, contextValue: { result } };
}

const isUnavailable = ({ extensions }: GraphQLFormattedError) => extensions?.code === 'unavailable';

const asError = ({ message, extensions, path: at }: GraphQLFormattedError) => new GraphQLError(message, { extensions, path: at });
