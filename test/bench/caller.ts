import type { Running } from './process.js';

export const asJson = (method: string, body: object, headers: object = {}) => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

export async function dataOf(request: Promise<Response>): Promise<{ id: string; key: string; cookie: string }> {
  const reply = await request;
  const { data } = (await reply.json()) as { data: { id: string; key: string } };
  return { ...data, cookie: (reply.headers.get('set-cookie') ?? '').split(';')[0]! };
}

/** A new account of our server, by a key that may do everything. */
export async function newCaller(server: Running): Promise<{ api: string; headers: { authorization: string } }> {
  const api = `${server.url}/api/v1`;
  const person = { email: 'fan@example.com', password: 'correct horse battery', accountName: 'Fan' };
  const { cookie } = await dataOf(fetch(`${api}/auth/register`, asJson('POST', person)));
  const { key } = await dataOf(
    fetch(`${api}/api-keys`, asJson('POST', { name: 'fan', permission: 'admin' }, { cookie, origin: server.url })),
  );
  return { api, headers: { authorization: `Bearer ${key}` } };
}
