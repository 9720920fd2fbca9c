import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { server, type TestServer } from '../support/index.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

describe('pages of which a button or a password is all that is sent', () => {
  it.each(['/verify-email', '/reset-password', '/accept-invite', '/billing/simulator', '/e/unsubscribe/x'])(
    '%s takes no more than that',
    async (path) => {
      const reply = await api.anybody().raw({ method: 'POST', path, payload: 'x'.repeat(5000) });
      expect(reply.status).toBe(413);
    },
  );
});
