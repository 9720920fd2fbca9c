import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Between two looks at what is in flight, and how many in a row must find nothing: what has come meanwhile is read by then. */
const lookMs = 10;
const calmLooks = 3;

const isEventStream = (response: ServerResponse) => String(response.getHeader('content-type')).startsWith('text/event-stream');

/**
 * The connections of a server. One that stops waits for what is in flight and for nothing else: neither for clients that keep a
 * connection without using it, nor for one on which nothing was ever said.
 */
export class Connections {
  readonly #open = new Set<Socket>();
  readonly #answering = new Set<ServerResponse>();
  #isEnding = false;

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
    // Whoever it was handed to closes it.
    server.on('upgrade', (_request: IncomingMessage, socket: Duplex) => this.#open.delete(socket as Socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answering.add(response);
      response.once('close', () => {
        this.#answering.delete(response);
        if (this.#isEnding) request.socket.destroySoon();
      });
    });
  }

  /** Waits until nothing is in flight, streams of events aside, at most this long. */
  async calm(ms: number): Promise<void> {
    const end = Date.now() + ms;
    for (let looks = 0; looks < calmLooks && Date.now() < end; ) {
      await new Promise((resume) => setTimeout(resume, lookMs));
      looks = this.#inFlight() ? 0 : looks + 1;
    }
  }

  #inFlight(): boolean {
    for (const response of this.#answering) if (!isEventStream(response)) return true;
    return false;
  }

  /** Ends every connection that nothing is answered on, and the others as soon as it is. */
  end(): void {
    this.#isEnding = true;
    const busy = new Set([...this.#answering].map(({ req }) => req.socket));
    for (const socket of this.#open) if (!busy.has(socket)) socket.destroySoon();
  }
}
