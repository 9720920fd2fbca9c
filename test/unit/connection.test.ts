import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { progressOf } from '../../src/graphql/backpressure.js';
import { Connection } from '../../src/graphql/sockets.connection.js';
import { eventually } from '../support/live.js';

const nothing = Buffer.alloc(0);
/** More than a line holds by itself whose reader takes nothing. */
const page = Buffer.alloc(32 * 1024 * 1024, 'x');

const http = createServer();
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
let connection: Connection;
let written: Duplex;
let client: WebSocket;
/** How long the messages were that came, and how the socket ended. */
let heard: number[];
let ended: number | undefined;

beforeEach(async () => {
  [heard, ended] = [[], undefined];
  http.removeAllListeners('upgrade').on('upgrade', (request, line, head) => {
    sockets.handleUpgrade(request, line, head, (ws) => {
      const failed = (error: unknown) => {
        throw error;
      };
      written = line;
      connection = new Connection(ws, line, { ip: '127.0.0.1' }, () => {}, failed);
    });
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
  client.on('message', (data) => heard.push((data as Buffer).length));
  client.on('close', (code) => {
    ended = code;
  });
  await once(client, 'open');
});
afterEach(async () => {
  client.terminate();
  http.closeAllConnections();
  await new Promise((closed) => http.close(closed));
});

describe('a reader who has not taken a large message yet', () => {
  it('is sent what comes behind it', async () => {
    client.pause();
    connection.sendAround(nothing, page, nothing);
    expect(connection.ws.bufferedAmount).toBeGreaterThan(2 * 1024 * 1024);
    connection.send('pong');
    connection.sendAround(nothing, Buffer.from('ready'), nothing);
    client.resume();
    await eventually(() => heard.length === 3 || ended);
    expect([heard, ended]).toEqual([[page.length, 4, 5], undefined]);
  });

  it('is cut off where too much comes behind it, and with the next large one', () => {
    const codes: number[] = [];
    connection.onClosed((code) => codes.push(code));
    client.pause();
    connection.sendAround(nothing, page, nothing);
    connection.send('x'.repeat(2 * 1024 * 1024));
    expect([connection.isOpen, codes]).toEqual([true, []]);
    connection.send('pong');
    expect([connection.isOpen, codes]).toEqual([false, [4413]]);
  });

  it('is sent no pongs either once too much waits', () => {
    const codes: number[] = [];
    connection.onClosed((code) => codes.push(code));
    client.pause();
    connection.sendAround(nothing, page, nothing);
    connection.send('x'.repeat(2 * 1024 * 1024));
    connection.ws.emit('ping', Buffer.alloc(125));
    expect([connection.isOpen, codes]).toEqual([false, [4413]]);
  });

  it('has taken it when the next one comes, which is as good as the first', async () => {
    for (const nth of [1, 2]) {
      client.pause();
      connection.sendAround(nothing, page, nothing);
      connection.send('pong');
      client.resume();
      await eventually(() => heard.length === 2 * nth || ended);
    }
    expect([heard, ended]).toEqual([[page.length, 4, page.length, 4], undefined]);
  });
});

describe('a reader who answers no ping, since it stands behind a large message', () => {
  const gone = () => progressOf(written, connection.ws.bufferedAmount);

  it('is alive while he takes that message, and is ended once he takes nothing', async () => {
    client.pause();
    connection.sendAround(nothing, page, nothing);
    const start = gone();
    connection.pulse();
    // The line takes more only once enough of what it holds was read; it would soon hold the whole message.
    const { _socket: line } = client as unknown as { _socket: Duplex };
    line.on('data', () => {
      if (gone() > start) client.pause();
    });
    client.resume();
    await eventually(() => gone() > start && client.isPaused);
    expect([connection.ws.bufferedAmount > page.length, heard]).toEqual([true, []]);
    connection.pulse();
    expect(connection.isOpen).toBe(true);
    connection.pulse();
    expect(connection.isOpen).toBe(false);
  });

  it('is ended where nothing waits for him', () => {
    client.pause();
    connection.pulse();
    connection.send('small');
    connection.pulse();
    expect(connection.isOpen).toBe(false);
  });
});
