import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch, type RequestInit, type Response } from 'undici';
import { z } from 'zod';
import { neverReached } from '../reached.js';
import {
  type LineAccount,
  type LineMessage,
  type LineRefusal,
  LineRefused,
  type LineReply,
  LineUnconfirmed,
  type LineVendor,
  type VendorLineRecord,
} from './line.js';

/** How long the vendor is waited for. */
const timeoutMs = 10_000;

const id = z.string().min(1).max(100);
const account = z.object({ id, cursor: z.string().max(200) });
const lines = z.object({ lines: z.array(z.object({ id, number: z.string().min(1).max(30), name: z.string().max(100) })).max(1000) });
const taken = z.object({ id });
const reply = z.object({ id, cursor: z.string().max(200), line: id, from: z.string().max(30), to: z.string().max(30), body: z.string() });
const replies = z.object({ replies: z.array(reply).max(100), more: z.boolean() });

const finalRefusals = new Set(['recipient_opted_out', 'landline']);

/** The vendor of lines, over HTTP. */
export class HttpLines implements LineVendor {
  #dispatcher?: Dispatcher;

  constructor(
    private readonly base: () => Promise<string>,
    private readonly timeout = timeoutMs,
  ) {}

  account(key: string): Promise<LineAccount> {
    return this.#read(key, '/v1/account', account);
  }

  async lines(key: string): Promise<VendorLineRecord[]> {
    return (await this.#read(key, '/v1/lines', lines)).lines;
  }

  replies(key: string, after: string): Promise<{ replies: LineReply[]; more: boolean }> {
    return this.#read(key, `/v1/replies?limit=100&after=${encodeURIComponent(after)}`, replies);
  }

  async send(key: string, { operationKey, lineId, to, body }: LineMessage): Promise<{ id: string }> {
    const response = await this.#ask(key, `/v1/lines/${encodeURIComponent(lineId)}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': operationKey },
      body: JSON.stringify({ to, body }),
    });
    const answer = await textOf(response);
    const refusal = sendRefusal(response.status, answer);
    if (refusal) throw refused(refusal, response);
    if (!response.ok) throw new LineUnconfirmed(`The vendor answered ${response.status}`);
    const { data } = taken.safeParse(parsed(answer));
    if (!data) throw new LineUnconfirmed('The answer of the vendor cannot be read');
    return data;
  }

  close(): void {
    void this.#dispatcher?.destroy();
  }

  /** What is between this machine and the world (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) is read by undici, as it is for Twilio. */
  #dispatcherTo(base: string): Dispatcher {
    // Of half the time, so that it ends before the whole does: what could not be connected for was certainly not sent.
    const connect = { timeout: this.timeout / 2 };
    this.#dispatcher ??= base.startsWith('https:') ? new EnvHttpProxyAgent({ connect, proxyTls: connect }) : new Agent({ connect });
    return this.#dispatcher;
  }

  async #read<T>(key: string, path: string, schema: z.ZodType<T>): Promise<T> {
    try {
      const response = await this.#ask(key, path);
      const answer = await textOf(response);
      if (response.status === 401 || response.status === 403) throw refused('key_rejected', response);
      if (!response.ok) throw refused('unavailable', response);
      return schema.parse(parsed(answer));
    } catch (error) {
      throw error instanceof LineRefused ? error : new LineRefused('unavailable', (error as Error).message);
    }
  }

  /** Sends a request. Throws what came of it where there is no answer: only what never left is certain not to be taken. */
  async #ask(key: string, path: string, request: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
    // No header holds any other character, and so no key.
    if (!/^[\x21-\x7e]+$/.test(key)) throw new LineRefused('key_rejected', 'The key has characters that no key has');
    const base = await this.base();
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    const signal = AbortSignal.timeout(this.timeout);
    const dispatcher = this.#dispatcherTo(base);
    return fetch(`${base}${path}`, { ...request, headers, signal, dispatcher, redirect: 'manual' }).catch((error: Error) => {
      // What is broken off, as by a proxy that does not lead on, `fetch` tells within another error.
      const isUnsent = [error.cause, Object(error.cause).cause].some(neverReached);
      throw isUnsent ? new LineRefused('unavailable', error.message) : new LineUnconfirmed(error.message);
    });
  }
}

/** Why a message was not taken, where the answer says so for certain. */
function sendRefusal(status: number, answer: string): LineRefusal | undefined {
  if (status === 401 || status === 403) return 'key_rejected';
  if (status === 404) return 'line_not_found';
  if (status === 429) return 'throttled';
  if (status < 400 || status >= 500) return undefined;
  const code = (parsed(answer) as { code?: string } | undefined)?.code ?? '';
  return finalRefusals.has(code) ? (code as LineRefusal) : 'refused';
}

const refused = (reason: LineRefusal, { status, headers }: Response) =>
  new LineRefused(reason, `The vendor answered ${status}`, Number(headers.get('retry-after')) || undefined);

/** What the answer says; the request may have been taken where it breaks off. */
const textOf = (response: Response): Promise<string> =>
  response.text().catch((error: Error) => {
    throw new LineUnconfirmed(error.message);
  });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
