import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answer, answered, inboundMail } from '../support/inboundMail.js';
import { expectRefusal, server, type TestServer } from '../support/index.js';

const path = '/webhooks/email/inbound';
let few: TestServer;
beforeAll(async () => {
  few = await server({ limits: { general: 3 }, config: { inboundMail, trustProxy: ['loopback'] } });
});
afterAll(() => few.close());

const raw = answer({ to: 'somebody@in.example.com' });
const right = `sha256=${createHmac('sha256', inboundMail.secret).update(raw).digest('hex')}`;
const wrong = `sha256=${'0'.repeat(64)}`;
const headersOf = (ip: string, signature?: string) => ({
  ...{ 'content-type': 'message/rfc822', 'x-forwarded-for': ip },
  ...(signature !== undefined && { 'x-inbound-signature': signature }),
});
const bring = (ip: string, signature?: string) =>
  few.anybody().raw({ method: 'POST', path, headers: headersOf(ip, signature), payload: raw });

/** The status for ten megabytes of which nothing is sent but the head. */
const statusOfHead = ({ wire }: TestServer, ip: string, signature?: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = { ...headersOf(ip, signature), 'content-length': String(10 * 1024 * 1024) };
    const asked = request({ host: '127.0.0.1', port: wire.port, method: 'POST', path, headers, agent: false }, (reply) => {
      resolve(reply.statusCode);
      asked.destroy();
    });
    asked.on('error', reject);
    asked.flushHeaders();
  });

describe('mails that nobody signed', () => {
  it('are counted by their address, whatever is wrong with the signature; those of other addresses are taken', async () => {
    for (const signature of [undefined, 'sha256=00', wrong]) expectRefusal(await bring('192.0.2.1', signature), 403);
    const refused = await bring('192.0.2.1', wrong);
    expectRefusal(refused, 429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    for (let i = 0; i < 5; i++) expect(answered(await bring('192.0.2.2', right))).toEqual({ taken: false });
  });

  it('are refused before anything of them has come, where that is known from the head', async () => {
    for (const signature of [undefined, 'sha256=00', right.toUpperCase()])
      expect(await statusOfHead(few, '192.0.2.3', signature)).toBe(403);
    // One that was refused for their number is what keeps the others out.
    for (const signature of ['sha256=00', right]) expect(await statusOfHead(few, '192.0.2.3', signature)).toBe(429);
    const closed = await server();
    expect(await statusOfHead(closed, '192.0.2.3', right)).toBe(404);
    await closed.close();
  });
});
