import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  basePath,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';
import { published } from './published.js';

let api: TestServer;
let acme: Account;
let path: string;
beforeAll(async () => {
  api = await server({ config: { corsOrigins: ['https://app.example.com'] } });
  acme = await api.seed.account();
  const { id } = dataOf(await acme.owner.post('/forms', { name: 'Ask', fields: [{ key: 'email', type: 'email', required: true }] }));
  path = `/forms/${id}/submit`;
});
afterAll(() => api.close());

const elsewhere = { origin: 'https://anybody.example', 'sec-fetch-site': 'cross-site' };
const body = { data: { email: 'visitor@example.com' } };
const preflight = (of: string, origin: string) =>
  api.anybody().raw({
    method: 'OPTIONS',
    path: basePath + of,
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
  });

function expectOpen({ headers }: Reply) {
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers['access-control-allow-credentials']).toBeUndefined();
  expect(headers['access-control-expose-headers']).toContain('Retry-After');
}

describe('an endpoint that is open to any origin', () => {
  it('answers what a browser asks before, for its own method and without credentials', async () => {
    for (const origin of ['https://anybody.example', 'https://app.example.com', 'null']) {
      const reply = await preflight(path, origin);
      expect(reply.status).toBe(204);
      expectOpen(reply);
      expect(reply.headers).toMatchObject({
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Content-Type, Idempotency-Key, X-Request-Id',
        'access-control-max-age': '600',
      });
    }
    expectRefusal(await api.anybody().raw({ method: 'OPTIONS', path: basePath + path }), 404);
  });

  it('may be read by pages of any origin, its refusals too', async () => {
    const post = (to: string, sent: unknown) => api.anybody().post(to, sent, elsewhere);
    const taken = await post(path, body);
    expect(taken.status).toBe(201);
    expectOpen(taken);
    const refused: [Reply, number][] = [
      [await post(path, { data: {} }), 400],
      [await post(path, { data: body.data, more: 'x'.repeat(129 * 1024) }), 413],
      [await post(`/forms/${crypto.randomUUID()}/submit`, body), 404],
      [await api.anybody().raw({ method: 'POST', path: basePath + path, headers: elsewhere, payload: '{' }), 400],
    ];
    const twice = { ...elsewhere, 'content-type': ['application/json', 'text/plain'] };
    refused.push([await api.anybody().raw({ method: 'POST', path: basePath + path, headers: twice, payload: '{}' }), 400]);
    for (const [reply, status] of refused) {
      expectRefusal(reply, status);
      expectOpen(reply);
    }
  });

  it('looks at no credentials: neither a session nor a key, good or bad, makes a difference', async () => {
    const session = (await acme.login()).with(elsewhere);
    const credentials: Record<string, string>[] = [{}, { authorization: 'Bearer nonsense' }];
    credentials.push({ authorization: `Bearer ${(await acme.key()).secret}` });
    for (const headers of credentials) {
      const reply = await session.post(path, body, headers);
      expect(reply.status).toBe(201);
      expect(reply.headers['set-cookie']).toBeUndefined();
      expectOpen(reply);
    }
    const events = dataOf(await acme.owner.get('/activities?type=form.submitted')).data;
    expect([...new Set(events.map(({ userName }: { userName: string }) => userName))]).toEqual(['Ask']);
  });
});

describe('the one open endpoint', () => {
  it('is the submission of a form and nothing else; the document says so', async () => {
    const open = published.endpoints.filter(({ endpoint }) => endpoint.open);
    expect(open.map(({ address, needs }) => [address, needs.public])).toEqual([['POST /forms/{id}/submit', true]]);
    const { paths } = published.openapi as {
      paths: Record<string, Record<string, { description: string; responses: Record<string, object> }>>;
    };
    const { description, responses } = paths['/forms/{id}/submit']!.post!;
    expect(description).toContain('any origin');
    expect(responses[201]).toMatchObject({ headers: { 'Access-Control-Allow-Origin': expect.anything() } });
    expect((await api.anybody().post('/auth/login', {}, elsewhere)).headers['access-control-allow-origin']).toBeUndefined();
    expect((await preflight('/contacts', 'https://anybody.example')).status).not.toBe(204);
    const ours = await preflight('/contacts', 'https://app.example.com');
    expect(ours.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-credentials': 'true',
    });
  });

  it('takes an Idempotency-Key: what is sent twice is kept once', async () => {
    const headers = { ...elsewhere, 'idempotency-key': 'the same visit' };
    const first = await api.anybody().post(path, { data: { email: 'twice@example.com' } }, headers);
    await expectNothingWritten(api, async () => {
      const again = await api.anybody().post(path, { data: { email: 'twice@example.com' } }, headers);
      expect(again).toMatchObject({ status: 201, body: first.body, headers: { 'idempotent-replayed': 'true' } });
    });
  });
});

describe('the limit of submissions', () => {
  it('is of one address through every interface, and shown with its refusals', async () => {
    const few = await server({ limits: { form: 3 }, config: { trustProxy: ['loopback'] } });
    try {
      const account = await few.seed.account();
      const { id } = dataOf(await account.owner.post('/forms', { name: 'Ask', fields: [{ key: 'email', type: 'email' }] }));
      const from = (ip: string) => few.anybody().with({ 'x-forwarded-for': ip, ...elsewhere });
      const send = (ip: string) => from(ip).post(`/forms/${id}/submit`, { data: {} });
      const first = await send('203.0.113.9');
      expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' });
      const mutation = `mutation { submitForm(id: "${id}", input: { data: {} }) { submissionId } }`;
      expect((await from('203.0.113.9').gql(mutation)).errors).toBeUndefined();
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const page = (ip: string) => from(ip).raw({ method: 'POST', path: `/f/${id}`, headers: form, payload: '' });
      expect((await page('203.0.113.9')).status).toBe(200);
      const refused = await send('203.0.113.9');
      expectRefusal(refused, 429);
      expectOpen(refused);
      expect(refused.headers['retry-after']).toMatch(/^\d+$/);
      const refusedPage = await page('203.0.113.9');
      expect(refusedPage).toMatchObject({ status: 429, text: expect.stringContaining('Too many requests') });
      expect(refusedPage.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'retry-after': expect.any(String) });
      expect((await from('203.0.113.9').gql(mutation)).status).toBe(429);
      expect((await send('203.0.113.10')).status).toBe(201);
    } finally {
      await few.close();
    }
  });
});
