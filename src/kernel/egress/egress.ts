import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { Agent, buildConnector, errors, request } from 'undici';
import { nameOf } from '../base/domains.js';
import { isLocalhost, isPrivateName, isPublic, literalOf } from './addresses.js';

/** The whole of a call: looking up the name, connecting, sending, and reading the answer. */
const timeoutMs = 10_000;
/** How long a name is looked up when nothing is sent yet. */
const lookupMs = 2000;
/** What is read of an answer at most. */
const mostBytes = 64 * 1024;
const mostUrl = 2048;

/** What came of a call: the answer of whoever was called, or why there is none. `ms` is how long it took. */
export type Answer = { status: number; body: string; ms: number } | { fault: EgressFault; ms: number };

/** Why there is no answer. It does not tell what a name resolves to, or what listens there. */
export type EgressFault = 'timeout' | 'connection_failed' | 'tls_failed' | 'invalid_response' | 'url_not_allowed';

/** What is called: always by POST. */
export interface Call {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface EgressOptions {
  /** Also http, and addresses that are not public: for tests and development. */
  allowPrivate: boolean;
  /** The server's own address, which is not called. */
  publicUrl: string;
  /** All addresses of a name; by DNS unless given. */
  resolve?: (name: string) => Promise<string[]>;
  /** Milliseconds of a whole call, 10 s by default. */
  timeoutMs?: number;
}

/**
 * The one way by which the server calls addresses that a customer chose. Only https and public addresses are called: those of a
 * name are looked at when it connects, and every one of them must be public. Redirects are not followed, an answer is read up to
 * 64 KB, and a call ends after 10 seconds.
 */
export class Egress {
  readonly #agent: Agent;
  readonly #resolve: (name: string) => Promise<string[]>;

  constructor(private readonly options: EgressOptions) {
    this.#resolve = options.resolve ?? byDns;
    const connect = buildConnector({ timeout: options.timeoutMs ?? timeoutMs, autoSelectFamily: true, lookup: this.#lookup });
    this.#agent = new Agent({
      // An address in the place of a name is not looked up.
      connect: (given, callback) => {
        if (this.#refuses(given.hostname)) callback(new NotAllowed(), null);
        else connect(given, callback);
      },
    });
  }

  /**
   * What is wrong with an address that is to be called, without asking anybody; undefined where nothing is. The words follow a field's
   * name.
   */
  urlFault(url: string): string | undefined {
    if (url.length > mostUrl) return `must have at most ${mostUrl} characters`;
    // Whoever parses an address leaves these out; a log or a header that it is put into would not.
    if (!URL.canParse(url) || /[\s\p{Cc}\\]/u.test(url)) return 'must be a URL';
    const { protocol, username, password, hostname } = new URL(url);
    if (protocol !== 'https:' && !(this.options.allowPrivate && protocol === 'http:')) return 'must be an https URL';
    if (username || password) return 'must have no user name or password in it';
    if (this.#refuses(hostname)) return 'must lead to a public address';
    return undefined;
  }

  /** The same, with the addresses of its name as they are now. A name that nobody answers for may come to be later. */
  async urlFaultNow(url: string): Promise<string | undefined> {
    const fault = this.urlFault(url);
    if (fault) return fault;
    const { hostname } = new URL(url);
    if (literalOf(hostname)) return undefined;
    const addresses = await within(lookupMs, this.#resolve(nameOf(hostname))).catch(() => []);
    return this.#allowed(addresses) ? undefined : 'must lead to a public address';
  }

  /** Calls, and answers what came of it: never throws for what the other side does. */
  async post({ url, headers, body }: Call): Promise<Answer> {
    if (this.urlFault(url)) return { fault: 'url_not_allowed', ms: 0 };
    const begun = performance.now();
    const ms = () => Math.round(performance.now() - begun);
    const signal = AbortSignal.timeout(this.options.timeoutMs ?? timeoutMs);
    try {
      const answer = await request(url, { method: 'POST', dispatcher: this.#agent, signal, headers, body });
      return { status: answer.statusCode, body: await start(answer.body), ms: ms() };
    } catch (error) {
      return { fault: faultOf(error as Error), ms: ms() };
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  #refuses(host: string): boolean {
    if (this.options.allowPrivate) return false;
    const literal = literalOf(host);
    if (literal) return !isPublic(literal);
    return isPrivateName(host) || nameOf(host) === new URL(this.options.publicUrl).hostname;
  }

  #allowed(addresses: readonly string[]): boolean {
    return this.options.allowPrivate || addresses.every(isPublic);
  }

  /** Hands the very addresses on that were looked at: nobody asks again between this and the connection. */
  readonly #lookup: LookupFunction = (host, options, callback) => {
    const answer = (addresses: string[]) => {
      if (addresses.length === 0 || !this.#allowed(addresses)) return callback(new NotAllowed(), '');
      const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      if (options.all) callback(null, all);
      else callback(null, all[0]!.address, all[0]!.family);
    };
    this.#resolve(nameOf(host)).then(answer, (error: Error) => callback(error, ''));
  };
}

/** No address that may be called. */
class NotAllowed extends Error {
  readonly code = 'NOT_ALLOWED';
}

/** Asks the servers of names themselves: what the system does for it would hold a thread of the pool for as long as they are silent. */
async function byDns(name: string): Promise<string[]> {
  if (isLocalhost(name)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: lookupMs, tries: 2 });
  const both = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return both.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('Too late')), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The start of an answer as text; the connection is given up where there is more. */
async function start(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= mostBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, mostBytes).toString('utf8');
}

function faultOf(error: Error & { code?: string }): EgressFault {
  if (error.name === 'TimeoutError' || error instanceof errors.ConnectTimeoutError) return 'timeout';
  if (error instanceof errors.HeadersOverflowError || error instanceof errors.HTTPParserError) return 'invalid_response';
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(error.code ?? '')) return 'tls_failed';
  return 'connection_failed';
}
