import { Agent } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Alone } from '../support/alone.js';
import { Client, type Reply } from '../support/index.js';
import { bearer, eventually, Socket, Stream } from '../support/live.js';

jest.setTimeout(120_000);

let alone: Alone;
const agent = new Agent({ keepAlive: true, maxSockets: 50 });
afterEach(() => alone.end());

/** Requests of every kind on connections that stay open, half of them changing something. */
function inFlight(count: number): Promise<Reply>[] {
  const caller = new Client({ ...alone.wire, agent }, { authorization: `Bearer ${alone.secret}` });
  return Array.from({ length: count }, (_, i) => {
    if (i % 4 === 0) return caller.post('/contacts', { firstName: `In flight ${i}` });
    if (i % 4 === 1) return caller.get('/contacts?per_page=50');
    if (i % 4 === 2) return caller.post('/deals', { title: `D${i}`, pipelineId: alone.pipeline.id, stageId: alone.pipeline.stages[0].id });
    return caller.raw({
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ query: '{ contacts { nodes { id tags { name } } } }' }),
    });
  });
}

describe('SIGTERM', () => {
  it('answers all that is in flight, tells the sockets, and ends within three seconds', async () => {
    alone = await Alone.begin();
    // Connections that were used and stay open, and one that nobody says anything on.
    await Promise.all(inFlight(40));
    const silent = connect(alone.wire.port, '127.0.0.1');
    const socket = await Socket.open(alone.wire.port, { init: bearer(alone) });
    const feed = socket.run('subscription { contactEvents { id } }');
    const stream = await Stream.open(alone.caller, 'subscription { contactEvents { id } }');
    const requests = inFlight(40);
    await eventually(() => feed.results.length > 0);
    const begun = Date.now();
    alone.process.signal('SIGTERM');
    const answers = await Promise.all(requests);
    expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
    expect(await socket.end()).toMatchObject({ code: 1001 });
    expect(await alone.process.ended()).toBe(0);
    expect(Date.now() - begun).toBeLessThan(3000);
    expect(stream.complete).toBe(true);
    silent.destroy();
  });
});
