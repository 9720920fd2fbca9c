import { afterEach, expect, it } from '@jest/globals';
import { once } from '../../src/client/index.js';

afterEach(() => {
  Reflect.deleteProperty(globalThis.crypto, 'randomUUID');
});

it('makes keys where a browser makes no UUIDs: on a page that came by plain http', () => {
  Object.defineProperty(globalThis.crypto, 'randomUUID', { value: undefined, configurable: true });
  const keys = [once(), once()].map((headers) => headers['Idempotency-Key']);
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key).toMatch(/^[\d-]{8,200}$/);
  expect(once('order 1001')).toEqual({ 'Idempotency-Key': 'order 1001' });
});
