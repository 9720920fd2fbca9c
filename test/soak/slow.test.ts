import { once } from 'node:events';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { dataOf } from '../support/index.js';
import { Line } from '../support/line.js';

/** SOAK_SLOW: clients that send their headers or their body in drops, or read no answer. */
const slow = Number(process.env.SOAK_SLOW ?? 500);
const normal = 2000;
const growthMiB = 20;

jest.setTimeout(300_000);

let server: Alone;
beforeAll(async () => {
  server = await Alone.begin();
  for (let n = 0; n < 100; n++) dataOf(await server.caller.post('/contacts', { lastName: `Nth ${n}`, notes: 'x'.repeat(100) }));
  await settled();
});
afterAll(() => server.end());

/** The 95th percentile of normal requests, four at a time. */
async function p95(): Promise<number> {
  const times: number[] = [];
  const work = async () => {
    while (times.length < normal) {
      const begun = performance.now();
      dataOf(await server.caller.get('/contacts?per_page=20'));
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)]!;
}

/** Loads it until its memory grows no more by itself. */
async function settled(): Promise<void> {
  for (let before = 0, round = 0; round < 15; round++) {
    await p95();
    const now = server.process.memory();
    if (now - before < 2) return;
    before = now;
  }
}

const authorized = () => `Host: a\r\nAuthorization: Bearer ${server.secret}\r\n`;

/** By turns: headers that never end, a body that never ends, answers that nobody reads. */
function crawl(nth: number): Line {
  const line = new Line(server.wire.port);
  if (nth % 3 === 0) return line.write('GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ');
  if (nth % 3 === 1)
    return line.write(`POST /api/v1/tags HTTP/1.1\r\n${authorized()}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  line.socket.pause();
  return line.write(`GET /api/v1/contacts?per_page=100 HTTP/1.1\r\n${authorized()}\r\n`);
}

it(`${slow} slow clients hold nobody up, and cost little memory`, async () => {
  const usual = await p95();
  const before = server.process.memory();
  const lines = Array.from({ length: slow }, (_, nth) => crawl(nth));
  const drops = setInterval(() => {
    for (const [nth, line] of lines.entries()) if (nth % 3 !== 2 && line.socket.writable) line.write(nth % 3 ? ' ' : 'x');
  }, 1000);
  const beside = await p95();
  const grown = server.process.memory() - before;
  console.log(`p95 ${usual.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${slow}; ${grown.toFixed(1)} MiB more`);
  const closed = await Promise.all(lines.map((line, nth) => (nth % 3 === 2 ? 0 : line.closed)));
  clearInterval(drops);
  for (const { socket } of lines) socket.destroy();
  console.log(`closed after at most ${Math.max(...closed)} ms`);
  expect(beside).toBeLessThan(2 * usual + 5);
  expect(grown).toBeLessThan(growthMiB);
  expect(Math.max(...closed.filter((_, nth) => nth % 3 === 0))).toBeLessThan(15_000);
  expect(Math.max(...closed)).toBeLessThan(40_000);
});

it('a body of 100 MB is refused, or cut off, long before all of it is sent', async () => {
  const before = server.process.memory();
  const line = new Line(server.wire.port);
  line.write(`POST /api/v1/tags HTTP/1.1\r\n${authorized()}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  let sent = 0;
  while (!line.received && !line.socket.destroyed && sent < 1600) {
    sent++;
    if (!line.socket.write(piece)) await Promise.race([line.closed, once(line.socket, 'drain').catch(() => {})]);
  }
  await line.closed;
  // Who goes on sending may not see the answer: the line is closed over it.
  expect(line.received).toMatch(/^(HTTP\/1\.1 413 |$)/);
  expect(sent).toBeLessThan(400);
  expect(server.process.memory() - before).toBeLessThan(growthMiB);
});
