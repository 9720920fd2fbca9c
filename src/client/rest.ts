import createClient from 'openapi-fetch';
import type { paths } from '../generated/client/rest.js';
import { errorOf } from './errors.js';

export type { components, paths } from '../generated/client/rest.js';

export interface RestOptions {
  /** `https://crm.example.com`; the page's own origin by default. */
  url?: string;
  /** An API key; in a browser the session's cookie goes along instead. */
  key?: string;
  /** Whether a browser sends the session's cookie: to the page's own origin by default; `include` where `url` is another one. */
  credentials?: Request['credentials'];
  fetch?: (request: Request) => Promise<Response>;
  /** How often what may be repeated is tried again; 2 by default. */
  retries?: number;
}

/** Waits, or rejects as `fetch` does once the request is given up. */
const pause = (seconds: number, { signal }: Request) =>
  new Promise((resume, fail) => {
    signal.throwIfAborted();
    const timer = setTimeout(resume, seconds * 1000);
    // The signal is this request's own, whatever was given to it: one wait follows the other, and each takes the place of the last.
    signal.onabort = () => [clearTimeout(timer), fail(signal.reason)];
  });

/** The longest wait that is still worth one, in seconds. */
const patience = 30;

const isRepeatable = ({ method, headers }: Request) => /GET|HEAD/.test(method) || (method === 'POST' && headers.has('Idempotency-Key'));

/** Whether the first try of a write with a key still runs: what comes of it is told to who asks again. */
const isRunning = async ({ headers }: Request, answer: Response): Promise<boolean> =>
  answer.status === 409 && headers.has('Idempotency-Key') && errorOf({ bodyText: await answer.clone().text() }).code === 'send_in_progress';

/** Sends a write again while its first try still runs, up to half a minute. */
async function settled(send: (request: Request) => Promise<Response>, request: Request): Promise<Response> {
  for (let waited = 0, seconds = 0.1; ; waited += seconds, seconds = Math.min(2 * seconds, 2)) {
    const answer = await send(request.clone());
    if (waited >= patience || !(await isRunning(request, answer))) return answer;
    await pause(seconds, request);
  }
}

/**
 * Tries again what may be repeated, after as long as the server asks for: reads, and a POST with an `Idempotency-Key`, which the
 * server heeds of no other method. The signal of a request ends its waits, too.
 */
export function retrying(send: (request: Request) => Promise<Response>, retries = 2): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let left = isRepeatable(request) ? retries : 0; ; left--) {
      const answer = await settled(send, request).catch((error: unknown) => {
        if (left <= 0 || request.signal.aborted) throw error;
      });
      const seconds = Number(answer?.headers.get('Retry-After') ?? 0.2);
      if (answer && (left <= 0 || ![429, 503].includes(answer.status) || !(seconds <= patience))) return answer;
      await pause(seconds, request);
    }
  };
}

/** The REST client, typed from the OpenAPI document: `rest.GET('/contacts/{id}', { params: { path: { id } } })`. */
export function createRest({ url = '', key, fetch = globalThis.fetch, retries, credentials = 'same-origin' }: RestOptions = {}) {
  const headers = key ? { Authorization: `Bearer ${key}` } : {};
  return createClient<paths>({ baseUrl: `${url}/api/v1`, fetch: retrying((request) => fetch(request), retries), credentials, headers });
}

/**
 * A header for a write that is to happen once, however often it is sent: keep the key until its outcome is known. The default is no
 * UUID, since browsers have `crypto.randomUUID` only in secure contexts (https or localhost).
 */
export const once = (key = globalThis.crypto.getRandomValues(new Uint32Array(4)).join('-')) => ({ 'Idempotency-Key': key });

/** All records of a list, page by page: `for await (const contact of allOf((cursor) => …))`, where `ask` answers a page. */
export async function* allOf<T>(ask: (after?: string) => Promise<{ data: T[]; meta: { next_cursor?: string | null } }>): AsyncGenerator<T> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { data, meta } = await ask(cursor);
    yield* data;
    cursor = meta.next_cursor || null;
  }
}
