import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { server, type TestServer } from '../support/index.js';
import { bearer, Socket } from '../support/live.js';

let broken: TestServer;
beforeAll(async () => {
  broken = await server();
});
afterAll(() => broken.close());

describe('a fault of ours', () => {
  it('ends a socket, with a code after which clients come back, and without a word of it: 1013', async () => {
    const known = bearer(await (await broken.seed.account()).key());
    const running = await Socket.open(broken.wire.port, { init: known });
    const entering = await Socket.open(broken.wire.port, { init: null });
    Object.defineProperty(broken.app, 'limiter', {
      get() {
        throw new Error('nobody knows how much was asked for');
      },
    });
    running.run('subscription { events { id } }');
    entering.send({ type: 'connection_init', payload: { Authorization: 'Bearer nonsense' } });
    for (const socket of [running, entering]) expect(await socket.end()).toEqual({ code: 1013, reason: 'Internal server error' });
    expect(broken.logs.filter((line) => line.includes('nobody knows how much was asked for'))).toHaveLength(2);
  });
});
