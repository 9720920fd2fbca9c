import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pause } from '../kernel/base/eventLoop.js';

/** Between two looks at what is in flight, and how many in a row must find nothing: what has come meanwhile is read by then. */
const lookMs = 10;
const calmLooks = 3;

const isEventStream = (response: ServerResponse) => String(response.getHeader('content-type')).startsWith('text/event-stream');

/**
 * The connections of a server. One that stops waits for what is in flight and for nothing else: neither for clients that keep a
 * connection without using it, nor for one on which nothing was ever said.
 */
export class Connections {
  /**
   * What is being answered on each connection. One set of all responses would be renewed every few requests, and a set that was
   * thrown away keeps the responses that it held, with all that belongs to them, from being collected young.
   */
  readonly #open = new Map<Duplex, ServerResponse[]>();
  #isEnding = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, []);
      socket.once('close', () => this.#open.delete(socket));
    });
    // Whoever it was handed to closes it.
    server.on('upgrade', (_request: IncomingMessage, socket: Duplex) => this.#open.delete(socket));
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      const answering = this.#open.get(socket);
      answering?.push(response);
      response.once('close', () => {
        answering?.splice(answering.indexOf(response), 1);
        if (this.#isEnding) socket.destroySoon();
      });
    });
  }

  /** Waits until nothing is in flight, streams of events aside, at most this long. */
  async calm(ms: number): Promise<void> {
    const end = performance.now() + ms;
    for (let looks = 0; looks < calmLooks && performance.now() < end; ) {
      await pause(lookMs);
      looks = this.#inFlight() ? 0 : looks + 1;
    }
  }

  #inFlight(): boolean {
    for (const answering of this.#open.values()) if (answering.some((response) => !isEventStream(response))) return true;
    return false;
  }

  /** Ends every connection that nothing is answered on, and the others as soon as it is. */
  end(): void {
    this.#isEnding = true;
    for (const [socket, answering] of this.#open) if (answering.length === 0) (socket as Socket).destroySoon();
  }
}
