import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type Client, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { Line } from '../support/line.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
let key: Client;
let secret: string;
let contact: Loose;

const line = () => new Line(api.wire.port);
const head = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers].join('\r\n').concat('\r\n\r\n');

let slow: { head: Line; body: Line };
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  const made = await acme.key();
  key = made;
  secret = made.secret;
  contact = await acme.contact();
  // They need ten seconds and more to be cut: the other tests run meanwhile.
  slow = { head: line().write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: '), body: line() };
  slow.body.write(`POST /api/v1/tags HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n`);
  slow.body.write('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
});
afterAll(async () => {
  for (const { socket } of Object.values(slow)) socket.destroy();
  await api.close();
});

describe('a request that two servers could read differently', () => {
  it.each([
    ['two Host headers', head('/healthz', 'Host: other')],
    ['two Authorization headers', head('/api/v1/tags', 'Authorization: Bearer a', 'authorization: Bearer b')],
    ['a length and chunks', `POST /api/v1/tags HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two lengths', 'POST /api/v1/tags HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd'],
    ['a length with a sign', 'POST /api/v1/tags HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc'],
    ['a coding that is none', 'POST /api/v1/tags HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
    ['a folded header', head('/healthz', 'X-Folded: a\r\n b')],
    ['a line that ends in LF', 'GET /healthz HTTP/1.1\nHost: a\n\n'],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['a space before the colon', head('/healthz', 'X-Space : a')],
    ['no HTTP at all', '\u0016\u0003\u0001 hello\r\n\r\n'],
  ])('is refused: %s', async (_what, text) => {
    const broken = line().write(text);
    expect(await broken.statuses()).toEqual([400]);
  });

  it('is told so in the body of every error', async () => {
    const broken = line().write('NONSENSE\r\n\r\n');
    await broken.closed;
    const [top, body = ''] = broken.received.split('\r\n\r\n');
    expect(JSON.parse(body)).toEqual({ error: 'The request is malformed', code: 'invalid_request', requestId: expect.any(String) });
    expect(top).toContain(JSON.parse(body).requestId);
  });

  it('shows the limits, as every response does: broken, misdirected, or no request at all', async () => {
    const texts = ['NONSENSE\r\n\r\n', head('/api/v1/contacts/%E0%A4%A'), head('/%'), head(`/api/v1/contacts/${'x'.repeat(400)}`)];
    const upgrade = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    texts.push(`GET /nowhere HTTP/1.1\r\nHost: localhost\r\n${upgrade.join('\r\n')}\r\n\r\n`);
    for (const text of texts) {
      const refused = line().write(text);
      await refused.closed;
      for (const name of ['limit', 'remaining', 'reset'])
        expect(refused.received.toLowerCase()).toMatch(new RegExp(`x-ratelimit-${name}: \\d+\r\n`));
    }
  });

  it('leaves a method to its request line', async () => {
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const reply = await key.get(`/contacts/${contact.id}`, { [name]: 'DELETE' });
      expect(reply.status).toBe(200);
      expect((await key.post(`/contacts/${contact.id}?_method=DELETE`, {}, { [name]: 'DELETE' })).status).toBe(404);
    }
    expect((await key.get(`/contacts/${contact.id}`)).status).toBe(200);
  });
});

describe('a path', () => {
  const endless = `/api/v1/contacts/${'x'.repeat(2000)}`;

  it.each([
    '/api/v1/contacts/..%2f..%2f..%2fhealthz',
    '/api/v1/contacts/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/api/v1/contacts/..;/tags',
    '/api/v1//tags',
    '//api/v1/tags',
    '/api/v1/tags;a=b',
    '/api/v1/TAGS',
    '/API/v1/tags',
    '/api/v1/tags%00',
    '/api/v1/contacts/%00',
    '/api/v1/contacts/%ff',
    '/api/v1/contacts/%',
    '/api/v1/contacts/constructor',
    '/api/v1/contacts/__proto__',
    '/api/v1/../../healthz',
  ])('%s leads nowhere', async (path) => {
    expectRefusal(await key.raw({ path }), 404);
  });

  it('without an end leads nowhere', async () => {
    expectRefusal(await key.raw({ path: endless }), 404);
  });
});

describe('a query string', () => {
  it('of ten thousand parameters is refused before it is read', async () => {
    const long = line().write(head(`/api/v1/tags?${'a=1&'.repeat(10_000)}`));
    expect(await long.statuses()).toEqual([431]);
    expect(long.received).toContain('"code":"invalid_request"');
  });

  it('of two thousand parameters, with keys of every kind, harms nobody', async () => {
    const reply = await key.get(`/tags?${'a&'.repeat(2000)}__proto__=1&constructor[prototype]=1&a[b][c]=1&%00=1&=&&%ff`);
    expect(reply.status).toBe(200);
  });

  it.each(['page=1&page=2', 'per_page=1&per_page=2', 'page[]=1', 'page[$ne]=1'])('%s is refused or left alone', async (query) => {
    const reply = await key.get(`/contacts?${query}`);
    expect([200, 400]).toContain(reply.status);
    if (query.includes('=1&')) expectRefusal(reply, 400);
  });

  it('that repeats a filter, or says twice where to go on, is refused', async () => {
    expectRefusal(await key.get('/contacts?cursor=a&cursor=b'), 400, 'cursor');
    expectRefusal(await key.get('/contacts?search=a&search=b'), 400, 'search');
  });
});

describe('every response', () => {
  it('says that it is data and nothing else', async () => {
    const expected = {
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    };
    for (const path of ['/api/v1/tags', '/api/v1/nothing', '/healthz', '/graphql']) {
      const { headers } = await key.raw({ path });
      expect(headers).toMatchObject(expected);
      expect(headers['strict-transport-security']).toBeUndefined();
      expect(headers['x-powered-by'] ?? headers.server).toBeUndefined();
    }
  });

  it('asks for HTTPS where the public address has it', async () => {
    const safe = await server({ config: { publicUrl: 'https://crm.example.com' } });
    expect((await safe.anybody().get('/tags')).headers['strict-transport-security']).toBe('max-age=31536000');
    await safe.close();
  });
});

describe('pages of other origins', () => {
  const page = 'https://app.example.com';
  const preflight = { origin: page, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' };

  it('may not call by default', async () => {
    const reply = await key.get('/tags', { origin: page });
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    for (const path of ['/tags', '/nothing']) {
      const asked = await api.anybody().send('OPTIONS', path, undefined, preflight);
      expectRefusal(asked, 403);
      expect(asked.body.error).toContain('CORS_ORIGINS');
    }
  });

  it('may call from any port of this machine where the demo runs, and from nowhere else', async () => {
    const demo = await server({ config: { corsLocalhost: true } });
    const { owner } = await demo.seed.account();
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://[::1]:8080', 'http://localhost']) {
      const asked = await demo.anybody().send('OPTIONS', '/tags', undefined, { ...preflight, origin });
      expect([asked.status, asked.headers['access-control-allow-origin']]).toEqual([204, origin]);
      expect((await owner.post('/tags', { name: origin }, { origin, 'sec-fetch-site': 'cross-site' })).status).toBe(201);
    }
    for (const origin of ['http://localhost.evil.com', 'https://localhost:5173', 'http://evil.com:3000', 'http://localhost:1@evil.com']) {
      expect((await demo.anybody().send('OPTIONS', '/tags', undefined, { ...preflight, origin })).status).toBe(403);
      expect((await owner.post('/tags', { name: origin }, { origin })).status).toBe(403);
    }
    await demo.close();
  });

  it('may send what clients and their tracing send', async () => {
    const open = await server({ config: { corsOrigins: [page] } });
    const { headers } = await open.anybody().send('OPTIONS', '/tags', undefined, preflight);
    const allowed = headers['access-control-allow-headers']!.toLowerCase().split(', ');
    const sent = 'apollographql-client-name apollographql-client-version x-apollo-operation-name apollo-require-preflight';
    for (const name of [...sent.split(' '), 'traceparent', 'tracestate', 'baggage', 'x-requested-with', 'authorization']) {
      expect(allowed).toContain(name);
    }
    await open.close();
  });

  it('may call where the configuration names them, and no others', async () => {
    const open = await server({ config: { corsOrigins: [page] }, limits: { general: 2 } });
    const { owner } = await open.seed.account();
    for (let i = 0; i < 5; i++) {
      const allowed = await open.anybody().send('OPTIONS', '/tags', undefined, preflight);
      expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([204, page]);
      expect(allowed.headers['access-control-allow-headers']).toContain('Authorization');
    }
    const made = await owner.post('/tags', { name: 'from a page' }, { origin: page });
    expect([made.status, made.headers['access-control-allow-credentials'], made.headers.vary]).toEqual([201, 'true', 'Origin']);
    const foreign = await owner.post('/tags', { name: 'from another' }, { origin: 'https://app.example.com.evil.com' });
    expect([foreign.status, foreign.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    await open.close();
  });
});

describe('probes', () => {
  it('/healthz asks nobody', async () => {
    expect(await api.statements(async () => expect((await api.anybody().raw({ path: '/healthz' })).status).toBe(200))).toBe(0);
  });

  it('/readyz asks the database once a second, however many ask', async () => {
    let pings = 0;
    const { database } = api.app;
    const { isCurrent } = database;
    database.isCurrent = () => {
      pings++;
      return isCurrent();
    };
    const ask = async () => (await api.anybody().raw({ path: '/readyz' })).status;
    const begun = Date.now();
    expect(new Set(await Promise.all(Array.from({ length: 200 }, ask)))).toEqual(new Set([200]));
    expect(pings).toBeLessThanOrEqual(1 + Math.ceil((Date.now() - begun) / 1000));
    expect(pings).toBeGreaterThan(0);
    database.isCurrent = isCurrent;
  });
});

describe('readiness', () => {
  const becomes = (status: number) => eventually(async () => (await api.anybody().raw({ path: '/readyz' })).status === status);
  const set = (value: string) =>
    api.app.database.execute(`update _prisma_migrations set rolled_back_at = ${value} where migration_name like '%_init'`);

  it('is denied while the schema is not that of this version', async () => {
    await becomes(200);
    await set('now()');
    await becomes(503);
    await set('null');
    await becomes(200);
  });
});

describe('slow clients', () => {
  it('meet the limits that were set', () => {
    expect(api.http.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, maxRequestsPerSocket: 1000 });
  });

  it('that never end their headers are cut after ten seconds, not a minute', async () => {
    const after = await slow.head.closed;
    expect(after).toBeGreaterThan(9_000);
    expect(after).toBeLessThan(20_000);
    expect(slow.head.received).toMatch(/^HTTP\/1\.1 408 /);
    expect(slow.head.received).toContain('"code":"invalid_request"');
  });

  it('that send a body in drops hold nobody up', async () => {
    const begun = Date.now();
    expect((await key.get('/tags')).status).toBe(200);
    expect(Date.now() - begun).toBeLessThan(1000);
    slow.body.socket.destroy();
  });
});
