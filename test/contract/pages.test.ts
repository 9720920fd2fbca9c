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

describe('links of mails', () => {
  const mailed = ['/verify-email', '/reset-password', '/accept-invite', '/e/unsubscribe/x'];

  it.each(mailed)('%s refuses by a page', async (path) => {
    const reply = await api.anybody().raw({ method: 'POST', path, payload: 'x'.repeat(5000) });
    expect([reply.status, reply.headers['content-type']]).toEqual([413, 'text/html; charset=utf-8']);
    expect(reply.text).toContain('<h1>This did not work</h1>');
  });

  it.each([
    ['GET', '/e/unsubscribe/x'],
    ['POST', '/e/unsubscribe/x'],
    ['GET', '/e/click/x?to=https%3A%2F%2Fexample.com'],
  ])('say what to do where they were cut off: %s %s', async (method, path) => {
    const reply = await api.anybody().raw({ method, path });
    expect([reply.status, reply.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(reply.text).toContain('copy all of it from the mail');
  });
});
