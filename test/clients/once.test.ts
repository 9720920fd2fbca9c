import { afterEach, expect, it } from '@jest/globals';
import { createRest, once } from '../../src/client/index.js';

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

it('has a POST tried again, and no other write: of those the server does not read the key', async () => {
  const sent: string[] = [];
  const fetch = async ({ method }: Request): Promise<Response> => {
    sent.push(method);
    throw new Error('The line was cut');
  };
  const rest = createRest({ url: 'http://nowhere', fetch });
  const params = { path: { id: '0b9f4c9e-5a4e-4f0e-9a4e-3b8f1c2d7e65' } };
  const body = { firstName: 'Ada' };
  await expect(rest.POST('/contacts', { body, headers: once() })).rejects.toThrow('The line was cut');
  await expect(rest.PATCH('/contacts/{id}', { params, body, headers: once() })).rejects.toThrow('The line was cut');
  await expect(rest.DELETE('/contacts/{id}', { params, headers: once() })).rejects.toThrow('The line was cut');
  expect(sent).toEqual(['POST', 'POST', 'POST', 'PATCH', 'DELETE']);
});
