import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const mostBytes = 64 * 1024;

/** Answers with JSON. */
export type JsonReply = (status: number, answer: object, headers?: Record<string, string>) => void;

/** A request to a simulator, its body read. */
export interface LoopbackExchange {
  request: IncomingMessage;
  url: URL;
  body: string;
  reply: JsonReply;
  /** Ends the connection without an answer. */
  cut(): void;
}

/** The HTTP server of a simulator on the loopback. It begins to listen when its address is first asked for. */
export class LoopbackServer {
  #listening?: Promise<{ server: Server; base: string }>;

  constructor(private readonly answer: (exchange: LoopbackExchange) => Promise<void>) {}

  async base(port = 0): Promise<string> {
    this.#listening ??= this.#listen(port);
    return (await this.#listening).base;
  }

  close(): void {
    void this.#listening?.then(({ server }) => {
      server.close();
      server.closeAllConnections();
    });
  }

  #listen(port: number): Promise<{ server: Server; base: string }> {
    const server = createServer((request, response) => void this.#answered(request, response));
    return new Promise((listening, failed) => {
      server.once('error', failed);
      server.listen(port, '127.0.0.1', () => {
        server.unref();
        listening({ server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
      });
    });
  }

  async #answered(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply: JsonReply = (status, answer, headers = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(answer));
    try {
      const url = new URL(request.url ?? '/', 'http://localhost');
      await this.answer({ request, url, body: await textOf(request), reply, cut: () => void response.destroy() });
    } catch (error) {
      // Whatever is sent to it, it is no fault of the server that it runs in.
      if (response.headersSent) response.destroy();
      else reply(400, { message: (error as Error).message });
    }
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > mostBytes) throw new Error('The body is too large');
  }
  return text;
}
