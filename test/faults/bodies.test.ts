import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectRefusal, type KeyClient, server, type TestServer } from '../support/index.js';
import { Line } from '../support/line.js';

let api: TestServer;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  key = await (await api.seed.account()).key();
});
afterAll(() => api.close());

const line = () => new Line(api.wire.port);
const request = (...headers: string[]) =>
  ['POST /api/v1/tags HTTP/1.1', 'Host: a', `Authorization: Bearer ${key.secret}`, 'Content-Type: application/json', ...headers]
    .join('\r\n')
    .concat('\r\n\r\n');
const post = (payload: string | Buffer, headers: Record<string, string> = {}) =>
  key.raw({ method: 'POST', path: '/api/v1/tags', payload, headers: { 'content-type': 'application/json', ...headers } });

describe('a body', () => {
  const tag = JSON.stringify({ name: 'A tag' });
  const deep = (open: string, close: string, levels: number) => `{"name":"a","x":${open.repeat(levels)}1${close.repeat(levels)}}`;

  it.each<[string, string | Buffer, Record<string, string>]>([
    ['that is truncated', '{"name":"a"', {}],
    ['with something behind it', '{"name":"a"} {}', {}],
    ['that is no object', '"a"', {}],
    ['that is an array', '[]', {}],
    ['that is null', 'null', {}],
    ['in UTF-16', Buffer.from(tag, 'utf16le'), {}],
    ['in UTF-16 with its mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(tag, 'utf16le')]), {}],
    ['in Latin-1', Buffer.from('{"name":"caf\u00e9"}', 'latin1'), {}],
    ['with half a character', Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xf0, 0x9f]), Buffer.from('"}')]), {}],
    ['that is compressed', gzipSync(tag), { 'content-encoding': 'gzip' }],
    ['that is a bomb', gzipSync(Buffer.alloc(100_000_000)), { 'content-encoding': 'gzip' }],
    ['in a form', 'name=a', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['in XML', '<name/>', { 'content-type': 'application/xml' }],
    ['of twenty thousand arrays', deep('[', ']', 20_000), {}],
    ['of twenty thousand objects', deep('{"a":', '}', 20_000), {}],
    ['of sixty-five levels', deep('[', ']', 64), {}],
    ['with a prototype', '{"name":"a","__proto__":{"admin":true}}', {}],
    ['with a constructor', '{"name":"a","constructor":{"prototype":{"admin":true}}}', {}],
    ['with half a surrogate', '{"name":"\\ud800"}', {}],
    ['with NUL', '{"name":"a\\u0000"}', {}],
  ])('%s is refused', async (_what, payload, headers) => {
    expectRefusal(await post(payload, headers), 400);
  });

  it('with a prototype is told so, also where it is long', async () => {
    for (const name of ['a', 'a'.repeat(100_000)])
      expect((await post(`{"name":"${name}","x":{"__proto__":{"admin":true}}}`)).body.error).toMatch(/a member called __proto__/);
  });

  it('with a mark of its byte order, brackets in its text or sixty levels is taken', async () => {
    expect((await post(`\ufeff${JSON.stringify({ name: 'BOM' })}`)).status).toBe(201);
    expect((await post(JSON.stringify({ name: '[{'.repeat(40) }))).status).toBe(201);
    expect((await post(JSON.stringify({ name: 'deep', x: JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`) }))).status).toBe(201);
  });

  it('ends where its length says: what follows is another request, and none', async () => {
    const long = line().write(`${request('Content-Length: 12')}{"name":"x"}GARBAGE\r\n\r\n`);
    expect((await long.statuses()).at(-1)).toBe(400);
  });

  it.each(['Content-Length: 104857600', 'Transfer-Encoding: chunked'])('of a hundred megabytes (%s) is cut off early', async (length) => {
    const big = line().write(request(length));
    const megabyte = Buffer.alloc(1_000_000, ' ');
    const chunk = length.startsWith('T') ? Buffer.concat([Buffer.from('f4240\r\n'), megabyte, Buffer.from('\r\n')]) : megabyte;
    let sent = 0;
    while (sent < 100 && !big.socket.destroyed && !big.received.includes('\r\n\r\n')) {
      sent++;
      if (!big.socket.write(chunk)) await Promise.race([once(big.socket, 'drain'), big.closed, once(big.socket, 'data')]);
    }
    if (!big.received) await once(big.socket, 'data');
    expect(big.received).toMatch(/^HTTP\/1\.1 413 /);
    expect(big.received).toContain('"code":"payload_too_large"');
    expect(sent).toBeLessThan(20);
    big.socket.destroy();
  });
});

it('a body of five megabytes is refused in words, also to a client that sends on', async () => {
  const headers = { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'x'.repeat(5_000_000) });
  for (let i = 0; i < 10; i++) {
    const reply = await fetch(`http://127.0.0.1:${api.wire.port}/api/v1/tags`, { method: 'POST', headers, body });
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([413, 'payload_too_large']);
  }
});
