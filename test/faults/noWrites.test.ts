import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { whileReadOnly } from '../support/readOnly.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  expect((await key.get('/tags')).status).toBe(200);
});
afterAll(() => api.close());

const linesOf = (code: string): Loose[] => api.logs.map((line) => JSON.parse(line)).filter((line) => line.code === code);
const ready = async () => (await api.anybody().raw({ path: '/readyz' })).status;

describe('a database that is read-only', () => {
  it('makes writes 503 and the server not ready, answers reads, and is written again once it may be', async () => {
    await whileReadOnly(api, async () => {
      await eventually(async () => (await ready()) === 503);
      // Connections of before may still end under a request.
      await eventually(async () => {
        await key.post('/tags', { name: 'Perhaps' });
        return linesOf('25006').length > 0;
      });
      await eventually(async () => (await key.get('/tags')).status === 200);
      const replies = [
        await key.post('/contacts', { lastName: 'Not now' }),
        await key.post('/contacts', { lastName: 'Not now' }, { 'idempotency-key': 'not-now-1' }),
        await acme.owner.post('/tasks', { title: 'Not now' }),
      ];
      expect(replies.map(({ status, headers, body }) => [status, headers['retry-after'], body.code])).toEqual(
        replies.map(() => [503, '1', 'unavailable']),
      );
      expect((await key.get('/contacts')).body.data).toEqual([]);
    });
    await eventually(async () => (await ready()) === 200);
    await eventually(async () => (await key.post('/contacts', { lastName: 'Now' }, { 'idempotency-key': 'not-now-1' })).status !== 503);
    expect((await key.get('/contacts')).body.data).toHaveLength(1);
  });
});
