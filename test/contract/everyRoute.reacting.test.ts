import { expect, it } from '@jest/globals';
import { expectRefusal, server } from '../support/index.js';
import { itServesPart } from './everyRoute.js';
import { published } from './published.js';
import { samples } from './samples.js';

itServesPart(2);

it('every endpoint has a sample, and every sample an endpoint', () => {
  expect(Object.keys(samples).sort()).toEqual(published.endpoints.map((bound) => bound.address).sort());
});

it('every path that no endpoint serves answers 404 with the headers of every response', async () => {
  const api = await server();
  const anyKey = await (await api.seed.account({ name: 'Nowhere' })).key();
  for (const path of ['/nothing', '/contacts/import/nothing/else', '/schema']) {
    const reply = await anyKey.get(path);
    expectRefusal(reply, 404);
    expect(reply.headers).toMatchObject({ 'x-request-id': expect.any(String), 'x-ratelimit-limit': expect.any(String) });
  }
  await api.close();
});
