import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as it came in. */
export interface Received {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

type Answering = (request: Received, response: ServerResponse, nth: number) => void;

/** An HTTP server on loopback that keeps what it was sent, and answers 200 unless told otherwise. */
export class Receiver {
  readonly received: Received[] = [];
  /** How many connections were opened. */
  connections = 0;
  url: string;
  readonly #sockets = new Set<Socket>();
  #stir = () => {};

  private constructor(
    private readonly server: Server,
    public answer: Answering,
  ) {}

  static async open(answer: Answering = (_request, response) => void response.end('ok')): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server, answer);
    server.on('connection', (socket) => receiver.#connected(socket));
    // Who stops cuts what it sends: nothing has come in then.
    server.on('request', (request, response) => void receiver.#take(request, response).catch(() => response.destroy()));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`;
    return receiver;
  }

  #connected(socket: Socket) {
    this.connections++;
    this.#sockets.add(socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {}));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received = { at: Date.now(), path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') };
    this.received.push(received);
    this.answer(received, response, this.received.length);
    this.#stir();
  }

  /** Waits until so many requests have come in, at most half a minute. */
  async until(count: number, ms = 30_000): Promise<Received[]> {
    const end = Date.now() + ms;
    while (this.received.length < count) {
      const left = end - Date.now();
      if (left <= 0) throw new Error(`${this.received.length} of ${count} requests came in`);
      await new Promise<void>((resume) => {
        const timer = setTimeout(resume, Math.min(left, 1000));
        this.#stir = () => {
          clearTimeout(timer);
          resume();
        };
      });
    }
    return this.received;
  }

  async close(): Promise<void> {
    const closed = new Promise((resume) => this.server.close(resume));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
