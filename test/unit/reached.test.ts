import { expect, it } from '@jest/globals';
import { neverReached } from '../../src/vendors/reached.js';

const connecting = (code: string) => ({ code, syscall: 'connect' });

it.each([
  connecting('ECONNREFUSED'),
  connecting('EHOSTUNREACH'),
  connecting('ENETUNREACH'),
  connecting('ETIMEDOUT'),
  { code: 'ETIMEDOUT', errors: [connecting('ETIMEDOUT'), connecting('ENETUNREACH')] },
  { code: 'ENOTFOUND', syscall: 'getaddrinfo' },
  { code: 'EAI_AGAIN', syscall: 'getaddrinfo' },
  { code: 'UND_ERR_CONNECT_TIMEOUT' },
  { code: 'CERT_HAS_EXPIRED' },
  { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
  { code: 'SELF_SIGNED_CERT_IN_CHAIN' },
  { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
  { code: 'UND_ERR_ABORTED', message: 'Proxy response (502) !== 200 when HTTP Tunneling' },
])('a request that could not be connected for never left: %j', (fault) => {
  expect(neverReached(fault)).toBe(true);
});

it.each([
  { code: 'ETIMEDOUT', syscall: 'read' },
  { code: 'ECONNRESET', syscall: 'read' },
  { code: 'EPIPE', syscall: 'write' },
  { code: 'ETIMEDOUT', errors: [connecting('ETIMEDOUT'), { code: 'ECONNRESET', syscall: 'read' }] },
  { errors: [] },
  { code: 'UND_ERR_HEADERS_TIMEOUT' },
  { code: 'UND_ERR_SOCKET' },
  { code: 'UND_ERR_ABORTED', message: 'Request aborted' },
  { status: 503, code: 20503 },
  undefined,
])('of any other nobody knows whether it came: %j', (fault) => {
  expect(neverReached(fault)).toBe(false);
});
