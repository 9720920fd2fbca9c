import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import WebSocket from 'ws';
import type { Client, Loose } from './client.js';

/** Waits until `look` answers something truthy, and answers it; after `ms` it looks once more, however long the machine stood still. */
export async function eventually<T>(look: () => T | Promise<T>, ms = 30_000): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const isLate = Date.now() > end;
    const seen = await look();
    if (seen) return seen;
    if (isLate) throw new Error(`It did not happen within ${ms} ms: ${look}`);
    await new Promise((resume) => setTimeout(resume, 5));
  }
}

/** What one subscription brought. */
export class Feed {
  /** The `payload` of every result. */
  readonly results: Loose[] = [];
  /** Set when it was refused. */
  errors?: Loose[];
  complete = false;

  /** The field's value in each result: the events. */
  get events(): Loose[] {
    return this.results.map((result) => Object.values(result.data ?? {})[0]);
  }

  get ids(): string[] {
    return this.events.map((event) => event.id);
  }

  /** Waits for the nth result. */
  async nth(n: number, ms?: number): Promise<Loose[]> {
    await eventually(() => this.errors || this.results.length >= n, ms);
    if (this.errors) throw new Error(JSON.stringify(this.errors));
    return this.events;
  }

  /** Waits for the refusal. */
  refused(): Promise<Loose[]> {
    return eventually(() => this.errors!);
  }
}

export interface SocketOptions {
  /** Null sends no connection_init at all. */
  init?: object | null;
  headers?: Record<string, string>;
  protocol?: string;
}

/** A WebSocket that speaks graphql-transport-ws by hand, so that it may also speak it wrongly. */
export class Socket {
  readonly #feeds = new Map<string, Feed>();
  #next = 1;
  #isAcknowledged = false;
  /** How it ended. */
  closed?: { code: number; reason: string };
  /** The status of an upgrade that was refused. */
  status?: number;

  private constructor(readonly ws: WebSocket) {
    ws.on('message', (data) => this.#take(JSON.parse(data.toString())));
    ws.on('close', (code, reason) => {
      this.closed ??= { code, reason: reason.toString() };
    });
    ws.on('unexpected-response', (_request, response) => {
      this.status = response.statusCode;
      this.closed = { code: 0, reason: '' };
      ws.terminate();
    });
    ws.on('error', () => {});
  }

  /** Opens a socket; `init` is the payload of its connection_init. */
  static async open(port: number, { init = {}, headers, protocol = 'graphql-transport-ws' }: SocketOptions = {}): Promise<Socket> {
    const socket = new Socket(new WebSocket(`ws://127.0.0.1:${port}/graphql`, protocol || undefined, { headers }));
    await eventually(() => socket.ws.readyState === WebSocket.OPEN || socket.closed);
    if (init && !socket.closed) {
      socket.send({ type: 'connection_init', payload: init });
      await eventually(() => socket.#isAcknowledged || socket.closed);
    }
    return socket;
  }

  send(message: object): void {
    this.ws.send(JSON.stringify(message));
  }

  /** Sends all of it in one write. */
  together(send: () => void): void {
    const { _socket: line } = this.ws as unknown as { _socket: Duplex };
    line.cork();
    send();
    line.uncork();
  }

  #take({ id, type, payload }: Loose) {
    if (type === 'connection_ack') this.#isAcknowledged = true;
    const feed = this.#feeds.get(id);
    if (type === 'next') feed?.results.push(payload);
    else if (type === 'error' && feed) feed.errors = payload;
    else if (type === 'complete' && feed) feed.complete = true;
  }

  /** What comes under an id that is used by hand. */
  listen(id: string): Feed {
    const feed = new Feed();
    this.#feeds.set(id, feed);
    return feed;
  }

  /** Begins an operation. */
  run(query: string, variables?: object, id = String(this.#next++)): Feed & { id: string } {
    const feed = Object.assign(new Feed(), { id });
    this.#feeds.set(id, feed);
    this.send({ id, type: 'subscribe', payload: { query, variables } });
    return feed;
  }

  /** Waits for the close and answers how it was. */
  end(ms?: number): Promise<{ code: number; reason: string }> {
    return eventually(() => this.closed!, ms);
  }

  /** Cuts the line without a word. */
  cut(): void {
    this.closed = { code: 0, reason: 'cut' };
    this.ws.terminate();
  }
}

/** An event stream over SSE. */
export class Stream extends Feed {
  /** The SSE id of each result. */
  readonly sseIds: string[] = [];
  /** Whether the response has ended. */
  ended = false;
  #text = '';

  private constructor(
    private readonly outgoing: ClientRequest,
    readonly status: number,
    readonly headers: IncomingMessage['headers'],
  ) {
    super();
  }

  /** The headers come back once the subscription stands. */
  static open(caller: Client, query: string, variables?: object, headers: Record<string, string> = {}): Promise<Stream> {
    const credentials = caller.cookie ? { cookie: `service_session=${caller.cookie}` } : {};
    const own = (caller as unknown as { headers: Record<string, string> }).headers;
    const outgoing = request({
      host: '127.0.0.1',
      port: caller.wire.port,
      method: 'POST',
      path: '/graphql/stream',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...credentials, ...own, ...headers },
    });
    return new Promise((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const stream = new Stream(outgoing, incoming.statusCode ?? 0, incoming.headers);
        incoming.setEncoding('utf8');
        incoming.on('data', (text: string) => stream.#take(text));
        incoming.on('error', () => {});
        incoming.on('close', () => {
          stream.ended = true;
        });
        resolve(stream);
      });
      outgoing.end(JSON.stringify({ query, variables }));
    });
  }

  #take(text: string) {
    this.#text += text;
    if (this.status !== 200) return;
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop()!;
    for (const block of blocks) {
      const fields = Object.fromEntries(
        block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      if (fields.event === 'complete') this.complete = true;
      if (fields.event !== 'next') continue;
      const result = JSON.parse(fields.data!);
      if (result.data) {
        this.results.push(result);
        this.sseIds.push(fields.id!);
      } else this.errors = result.errors;
    }
  }

  /** The body of a refusal before the stream. */
  get body(): Loose {
    return JSON.parse(this.#text);
  }

  cut(): void {
    this.outgoing.destroy();
  }
}

/** The credentials of an API key for a socket's `init`. */
export const bearer = ({ secret }: { secret: string }) => ({ Authorization: `Bearer ${secret}` });
