import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../kernel/base/config.js';
import { type AppError, badRequest, invalidField, notFound } from '../kernel/base/errors.js';
import { errorBody } from './errors.js';
import { inOneTurn, maxNesting, parseLarge, poisoned, tooDeep } from './largeJson.js';

/**
 * What slow and greedy clients meet, in milliseconds and requests; Node's own are minutes and no limit. A client that takes nothing of
 * its answer for `answerTimeout` is cut off.
 */
export const clientLimits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  answerTimeout: 120_000,
  connectionsCheckingInterval: 2_000,
  maxRequestsPerSocket: 1000,
};

const year = 365 * 24 * 60 * 60;

/** The headers of every response: it is data, never a page, a frame or a guess; a route that answers a page sets its own. */
export function safetyHeaders({ publicUrl }: Pick<Config, 'publicUrl'>): Record<string, string> {
  return {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    ...(publicUrl.startsWith('https:') && { 'Strict-Transport-Security': `max-age=${year}` }),
  };
}

const single = new Set(['host', 'authorization', 'content-type', 'content-encoding']);

/** Refuses what a proxy in front and this server could read differently: Node keeps the first of two such headers. */
export function ambiguity(rawHeaders: readonly string[]): AppError | undefined {
  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!single.has(name)) continue;
    if (seen.has(name)) return badRequest(`The header ${name} occurs twice`);
    seen.add(name);
  }
  return undefined;
}

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);
const openers = new Set(['{', '['].map((sign) => sign.charCodeAt(0)));
const closers = new Set(['}', ']'].map((sign) => sign.charCodeAt(0)));

function nestsTooDeep(text: string, level: number): boolean {
  let depth = level;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const sign = text.charCodeAt(i);
    if (quoted) {
      if (sign === backslash) i++;
      else if (sign === quote) quoted = false;
    } else if (sign === quote) quoted = true;
    else if (openers.has(sign) && ++depth > maxNesting) return true;
    else if (closers.has(sign)) depth--;
  }
  return false;
}

/** The text of a JSON body. Throws 400 for what is not plain UTF-8. */
function textOf(request: FastifyRequest, body: Buffer): string {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw badRequest('A body with a Content-Encoding is not read; send it as it is');
  if (!isUtf8(body)) throw badRequest('The body must be JSON in UTF-8');
  return body.toString();
}

/** A number with such an exponent, or of so many digits, that it may be none of JavaScript's: with 209 and e99 it is still one. */
const hugeNumber = /[eE]\+?\d{3}|\d{210}/;

/** Where a body has a number beyond what can be kept: it was read as Infinity, and would be written as null. */
function beyondNumbers(value: unknown, at = ''): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = beyondNumbers(member, at ? `${at}.${name}` : name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function numberFault(text: string, value: unknown, within = ''): AppError | null {
  const at = hugeNumber.test(text) ? beyondNumbers(value, within) : undefined;
  if (at === undefined) return null;
  return at === '' ? badRequest('The body must be a JSON object') : invalidField(at, 'out_of_range', 'must be a number that can be kept');
}

/** What the parser refuses of what is JSON: a member that would become the prototype of an object. */
function poisonFault(text: string): AppError | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  return poisoned();
}

type Done = (error: Error | null, value?: unknown) => void;

/** Reads a JSON body; a long one in parts, between which other requests are answered. */
function readerOf(server: FastifyInstance): (request: FastifyRequest, body: Buffer, done: Done) => void {
  const json = server.getDefaultJsonParser('error', 'error');
  const parser = (request: FastifyRequest) => (text: string, at: string, level: number) => {
    if (nestsTooDeep(text, level)) throw tooDeep();
    let parsed: { fault?: Error | null; value?: unknown } = {};
    // It takes whatever is thrown in here for its own: faults are handed on.
    json(request, text, (fault, value) => {
      parsed = { fault: fault ? (poisonFault(text) ?? fault) : numberFault(text, value, at), value };
    });
    if (parsed.fault) throw parsed.fault;
    return parsed.value;
  };
  return (request, body, done) => {
    let value: unknown;
    try {
      const text = textOf(request, body);
      if (text.length > inOneTurn) return void parseLarge(text, parser(request)).then((large) => done(null, large), done);
      value = text === '' ? undefined : parser(request)(text, '', 0);
    } catch (error) {
      return done(error as Error);
    }
    done(null, value);
  };
}

/** JSON only, in UTF-8 whatever its charset says; anything else is 400 on a route that takes a body. */
export function jsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const read = readerOf(server);
  server.addContentTypeParser(/^application\/(?:[\w.+-]+\+)?json/i, { parseAs: 'buffer' }, (request, body, done) =>
    read(request, body as Buffer, done),
  );
}

/** Any body at all, as the JSON that it is or as nothing: for endpoints that succeed whatever they are sent. */
export function anyBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const read = readerOf(server);
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    read(request, body as Buffer, (error, value) => done(null, error ? undefined : value));
  });
}

/** How much more is taken of a body that is refused, and for how many milliseconds. */
const farewell = { bytes: 16 * 1024 * 1024, ms: 5000 };

/**
 * Before a refusal of a body that is still on its way: takes the rest and throws it away, within bounds. A connection that is
 * closed at once is reset, and its client would see that instead of the refusal.
 */
export function drainBody({ raw, headers }: FastifyRequest, reply: FastifyReply): void {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  if (raw.complete || !hasBody) return;
  reply.removeHeader('Connection');
  let left = farewell.bytes;
  const cut = setTimeout(() => raw.destroy(), farewell.ms).unref();
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) raw.destroy();
  });
  raw.once('close', () => clearTimeout(cut));
}

/** Has nothing read of a body that nobody asked for: to answer HEAD, Fastify reads a stream to its end. */
export function dropUnasked({ method }: FastifyRequest, payload: unknown): void {
  if (method === 'HEAD' && payload instanceof Readable) payload.destroy();
}

/** Answers an address that no route can have been asked for (a broken %-escape, an endless segment), before any hook runs. */
export function refuseAddress(headers: () => Record<string, string>) {
  return (_error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    const body = JSON.stringify(errorBody(notFound('Endpoint'), request.id));
    const own = {
      'X-Request-Id': request.id,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
    };
    reply.raw.writeHead(404, { ...headers(), ...own });
    reply.raw.end(body);
  };
}

const brokenRequests: Record<string, [number, string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
  HPE_HEADER_OVERFLOW: [431, 'The address and the headers are larger than 16 KiB'],
};

/** Answers what is no HTTP request, or none that ever becomes complete, in the body of every error; then hangs up. */
export const refuseBroken =
  (headers: () => Record<string, string>) =>
  (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    const [status, message] = brokenRequests[error.code ?? ''] ?? [400, 'The request is malformed'];
    const requestId = randomUUID();
    const body = JSON.stringify(errorBody(badRequest(message), requestId));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...Object.entries(headers()).map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
    ];
    if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    socket.destroySoon();
  };
