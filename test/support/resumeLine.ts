import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { resuming, steady } from '../../src/client/index.js';
import { type Loose, server } from './index.js';

/** A server with an account whose key a client has. */
export async function keyHolder() {
  const crm = await server();
  const acme = await crm.seed.account();
  const { secret } = await acme.key();
  return { crm, acme, secret, url: `http://127.0.0.1:${crm.wire.port}` };
}

/** A client with the resume link whose sockets can be cut, and somebody who keeps what comes. */
export function lineTo(url: string, secret: string, keepAlive?: number) {
  const sockets: WebSocket[] = [];
  class Cut extends WebSocket {
    constructor(...[address, protocols]: [string, string[]]) {
      super(address, protocols);
      sockets.push(this);
    }
  }
  const options = {
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Cut,
    connectionParams: { Authorization: `Bearer ${secret}` },
  };
  const client = resuming(createClient(steady({ ...options, keepAlive, retryWait: async () => {} })));
  const results: Loose[] = [];
  const watch = (query: string) =>
    client.subscribe({ query }, { next: ({ data }) => results.push(data), error: (error) => results.push({ error }), complete: () => {} });
  return { client, results, watch, cut: () => sockets.at(-1)!.terminate(), sockets };
}
