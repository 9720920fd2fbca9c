import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import WebSocket, { WebSocketServer } from 'ws';
import { spread } from '../../src/pages/sockets.js';
import { eventually } from '../support/live.js';

/** Stands for a server that refuses the first of what it is asked. */
let server: WebSocketServer;
let asked = 0;
let retryAfter = 0.2;
beforeAll(() => {
  server = new WebSocketServer({ port: 0, handleProtocols: () => 'graphql-transport-ws' });
  server.on('connection', (socket) =>
    socket.on('message', (text) => {
      const { id, type } = JSON.parse(String(text)) as { id: string; type: string };
      const send = (message: object) => socket.send(JSON.stringify(message));
      if (type === 'connection_init') send({ type: 'connection_ack' });
      if (type === 'ping') send({ type: 'pong' });
      if (type !== 'subscribe') return;
      const refusal = { message: 'Too many requests', extensions: { code: 'rate_limited', retryAfter } };
      if (++asked === 1) send({ id, type: 'error', payload: [refusal] });
      else send({ id, type: 'next', payload: { data: { live: { deals: { isWhole: true, removed: [], rows: [] } } } } });
    }),
  );
});
afterAll(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});
beforeEach(() => {
  asked = 0;
});

const query =
  'subscription ($after: [LiveHave!]) { live(after: $after) { deals { isWhole removed rows { recordId index change version } } } }';

/** A subscription, what came of it, and what the line was from change to change. */
function begun() {
  const { sockets, line } = spread({ url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, webSocketImpl: WebSocket });
  const [states, came]: [boolean[], unknown[]] = [[], []];
  line.subscribe(() => void states.push(line.isUp()));
  const faults: unknown[] = [];
  const stop = sockets.subscribe({ query }, { next: (one) => void came.push(one), error: (one) => void faults.push(one), complete() {} });
  return { states, came, faults, stop };
}

describe('the line', () => {
  it('does not stand while a live query waits because too much was asked for', async () => {
    retryAfter = 0.2;
    const { states, came, faults, stop } = begun();
    await eventually(() => came.length === 1, 5000);
    expect([states, faults, asked]).toEqual([[false, true], [], 2]);
    stop();
  });

  it('stands again where one that waits is left', async () => {
    retryAfter = 60;
    const { states, came, stop } = begun();
    await eventually(() => states.length === 1, 5000);
    stop();
    await eventually(() => states.length === 2, 5000);
    expect([states, came]).toEqual([[false, true], []]);
  });
});
