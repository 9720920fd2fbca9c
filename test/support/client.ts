import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';
import { faultMeanings } from '../../src/kernel/base/errors.js';
import { isPublishedStatus, unpublishedMembers } from './publishedStatuses.js';

/** What came back from the server: a test reads whatever members it expects. */
// biome-ignore lint/suspicious/noExplicitAny: the shape of a reply is what the tests are there to find out
export type Loose = any;

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  /** The parsed JSON, or the text where it is none. */
  body: Loose;
  text: string;
}

export interface GraphQLReply {
  status: number;
  headers: IncomingHttpHeaders;
  data: Loose;
  errors: Loose[] | undefined;
}

/** A request as it goes over the wire. */
export interface Raw {
  method?: string;
  /** The whole path, `/api/v1` included. */
  path: string;
  headers?: OutgoingHttpHeaders;
  payload?: string | Buffer;
}

/** Where requests go: a running server's port, its connections and its log. */
export interface Wire {
  port: number;
  agent: Agent;
  logs: readonly string[];
}

export const basePath = '/api/v1';

// The words of the database, of the runtime and of the file system: no reply may carry them.
const leaks =
  /prisma|pglite|\bpg_|sqlstate|violates|\brelation "|syntax error at|\bselect .+ from\b|\.(?:ts|js):\d+|node_modules|account_id/i;

/**
 * Sends one request as it is and reads its reply. Fails the test on a 500, on an error that tells too much, and on a status, or a
 * member of an error, that the published document does not name.
 */
export async function exchange(wire: Wire, raw: Raw): Promise<Reply> {
  const reply = await send(wire, raw);
  const told = `${raw.method ?? 'GET'} ${raw.path} → ${reply.status} ${reply.text.slice(0, 2000)}`;
  if (reply.status === 500) throw new Error(`${told}\n${wire.logs.slice(-3).join('\n')}`);
  if (reply.status >= 400 && leaks.test(reply.text)) throw new Error(`The error tells too much: ${told}`);
  if (!detailsOf(reply.body).every(isDetail)) throw new Error(`An error has a detail that no program can read: ${told}`);
  const path = raw.path.startsWith(basePath) ? raw.path.slice(basePath.length) : '';
  // A worker serves no endpoint.
  const isServed = reply.body?.error !== 'Endpoint not found';
  if (isServed && !isPublishedStatus(raw.method ?? 'GET', path, reply.status))
    throw new Error(`The document does not name the status: ${told}`);
  const unnamed = isServed ? unpublishedMembers(raw.method ?? 'GET', path, reply.status, reply.body) : [];
  if (unnamed.length > 0) throw new Error(`The document does not name ${unnamed.join(', ')}: ${told}`);
  return reply;
}

/** The details of an error through either API. */
function detailsOf(body: Loose): Loose[] {
  const errors: Loose[] = Array.isArray(body?.errors) ? body.errors : [];
  return [body?.details, ...errors.map((error) => error.extensions?.details)].flatMap((details) => (Array.isArray(details) ? details : []));
}

const isDetail = ({ field, code, message, ...rest }: Loose) =>
  [field, message].every((text) => typeof text === 'string') &&
  code in faultMeanings &&
  Object.keys(rest).every((name) => name === 'options');

function send({ port, agent }: Wire, { method = 'GET', path, headers = {}, payload }: Raw): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, agent, method, path, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parsed(text) });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

type Headers = Record<string, string>;

/** Somebody who calls the API: nobody, a session with its cookie, or an API key. */
export class Client {
  /** The session cookie's value, as the last reply left it. */
  cookie?: string;

  constructor(
    readonly wire: Wire,
    private readonly headers: Headers = {},
  ) {}

  get(path: string, headers?: Headers): Promise<Reply> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body?: unknown, headers?: Headers): Promise<Reply> {
    return this.send('POST', path, body, headers);
  }

  put(path: string, body?: unknown, headers?: Headers): Promise<Reply> {
    return this.send('PUT', path, body, headers);
  }

  patch(path: string, body?: unknown, headers?: Headers): Promise<Reply> {
    return this.send('PATCH', path, body, headers);
  }

  del(path: string, body?: unknown, headers?: Headers): Promise<Reply> {
    return this.send('DELETE', path, body, headers);
  }

  /** A row of the REST API; `path` is relative to `/api/v1`, the body goes as JSON. */
  send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Reply> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    return this.raw({ method, path: basePath + path, payload, headers: { ...(payload !== undefined && json(payload)), ...headers } });
  }

  /** The other API. */
  async gql(query: string, variables?: Record<string, unknown>, headers: Headers = {}): Promise<GraphQLReply> {
    const payload = JSON.stringify({ query, variables });
    const reply = await this.raw({ method: 'POST', path: '/graphql', payload, headers: { ...json(payload), ...headers } });
    const { data, errors } = (reply.body ?? {}) as { data?: unknown; errors?: Loose[] };
    const fault = errors?.find((error) => error.extensions?.status === 500);
    if (fault) throw new Error(`${query.trim()} → ${JSON.stringify(fault)}\n${this.wire.logs.slice(-3).join('\n')}`);
    return { status: reply.status, headers: reply.headers, data, errors };
  }

  /** Anything at all, with the caller's credentials. */
  async raw(raw: Raw): Promise<Reply> {
    const credentials = this.cookie ? { cookie: `service_session=${this.cookie}` } : {};
    const reply = await exchange(this.wire, { ...raw, headers: { ...credentials, ...this.headers, ...raw.headers } });
    this.#keepCookie(reply);
    return reply;
  }

  /** The same caller with more headers on every request: `client.with({ 'x-forwarded-for': '203.0.113.9' })`. */
  with(headers: Headers): Client {
    const other = new Client(this.wire, { ...this.headers, ...headers });
    other.cookie = this.cookie;
    return other;
  }

  #keepCookie(reply: Reply) {
    const set = reply.headers['set-cookie']?.find((cookie) => cookie.startsWith('service_session='));
    if (set) this.cookie = /^service_session=([^;]*)/.exec(set)?.[1] || undefined;
  }
}

const json = (payload: string) => ({ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) });
