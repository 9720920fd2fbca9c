import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, basePath, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Bodies of every kind, each with its media type. */
const bodies: [string, string | Buffer, string][] = [
  ['nothing', '', ''],
  ['an empty object', '{}', 'application/json'],
  ['another type', '{"email":5}', 'application/json'],
  ['no address', '{"email":"bad"}', 'application/json'],
  ['an endless address', `{"email":"${'x'.repeat(5000)}@example.com"}`, 'application/json'],
  ['a NUL', '{"email":"a\\u0000@example.com"}', 'application/json'],
  ['null', '{"email":null}', 'application/json'],
  ['a list', '["a@example.com"]', 'application/json'],
  ['half an object', '{"email":', 'application/json'],
  ['__proto__', '{"__proto__":{"email":"a@example.com"}}', 'application/json'],
  ['Latin-1', Buffer.from('{"email":"ä"}', 'latin1'), 'application/json'],
  ['a form', 'email=a%40example.com', 'application/x-www-form-urlencoded'],
  ['CSV', 'firstName,lastName\r\nAda,Lovelace\r\n', 'text/csv'],
  ['a file', '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nAda\r\n--x--\r\n', 'multipart/form-data; boundary=x'],
];

const post = (caller = api.anybody(), path = '', payload: string | Buffer = '', type = '') =>
  caller.raw({
    method: 'POST',
    path: basePath + path,
    payload,
    headers: { ...(type && { 'content-type': type }), 'content-length': String(Buffer.byteLength(payload)) },
  });

describe('POST /auth/forgot-password', () => {
  it.each(bodies)('answers 200 to %s', async (_what, payload, type) => {
    const reply = await post(api.anybody(), '/auth/forgot-password', payload, type);
    expect([reply.status, reply.body]).toEqual([200, { data: { success: true } }]);
  });

  it('answers the same through GraphQL to every text', async () => {
    const document = 'mutation ($email: String) { forgotPassword(input: { email: $email }) { success } }';
    for (const email of ['bad', '', null, 'x'.repeat(5000), undefined]) {
      expect((await api.anybody().gql(document, { email })).data).toEqual({ forgotPassword: { success: true } });
    }
  });
});

describe('POST /contacts/import', () => {
  it.each([...bodies, ['two megabytes of CSV', 'Ada,Lovelace\r\n'.repeat(150_000), 'text/csv'] as const])(
    'is retired for %s',
    async (_what, payload, type) => {
      await expectNothingWritten(api, async () => {
        const reply = await post(acme.owner, '/contacts/import', payload, type);
        expectRefusal(reply, 410);
        expect(reply.body.error).toContain('POST /imports');
      });
    },
  );

  it('asks for credentials first', async () => {
    expectRefusal(await post(api.anybody(), '/contacts/import', 'a', 'text/csv'), 401);
  });
});
