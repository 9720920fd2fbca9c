import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { HttpLines } from '../../src/vendors/line/client.js';
import { LineUnconfirmed } from '../../src/vendors/line/line.js';
import { proxied } from '../support/proxied.js';

/** Takes every connection, and never says anything. */
const sockets = new Set<Socket>();
const mute = createServer((socket) => void sockets.add(socket.on('error', () => {})));
const mutePort = () => (mute.address() as AddressInfo).port;
beforeAll(() => new Promise<void>((listening) => mute.listen(0, '127.0.0.1', listening)));
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  mute.close();
});

/** What becomes of a message that is handed over there. A connection is waited for in steps of half a second, for two of them at least. */
async function outcome(base: string, timeout = 3000): Promise<unknown> {
  const lines = new HttpLines(async () => base, timeout);
  const message = { operationKey: 'one', lineId: 'desk-1', to: '+14155550101', body: 'Hello' };
  const fault = await lines.send('line_desk', message).catch((error: unknown) => error);
  lines.close();
  return fault;
}

it('a message was not sent where nobody could be connected to: it waits', async () => {
  const gone = createServer();
  await new Promise<void>((listening) => gone.listen(0, '127.0.0.1', listening));
  const { port } = gone.address() as AddressInfo;
  await new Promise<unknown>((closed) => gone.close(closed));
  expect(await outcome(`http://127.0.0.1:${port}`)).toMatchObject({ reason: 'unavailable' });
});

it('a message was not sent where the connection was not made in time: it waits', async () => {
  expect(await outcome(`https://127.0.0.1:${mutePort()}`)).toMatchObject({ reason: 'unavailable' });
});

it('a vendor is asked by the proxy of the machine, and a message was not sent where that does not lead on', async () => {
  const asked: string[] = [];
  const proxy = createHttpServer().on('connect', ({ url }, socket) => {
    asked.push(url!);
    socket.on('error', () => {}).end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  expect(await proxied(url, () => outcome('https://lines.example'))).toMatchObject({ reason: 'unavailable' });
  expect(asked).toEqual(['lines.example:443']);
  proxy.close();
});

it('a message may have been sent where it was taken and not answered', async () => {
  expect(await outcome(`http://127.0.0.1:${mutePort()}`, 300)).toBeInstanceOf(LineUnconfirmed);
});
