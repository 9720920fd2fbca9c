import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createClient } from 'graphql-sse';
import { Alone } from '../support/alone.js';
import { Client, type Loose, type Reply } from '../support/index.js';
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
    // `complete` would say that nothing comes any more: a client comes back after an end without it (GraphQL over SSE).
    expect([stream.ended, stream.complete]).toEqual([true, false]);
    silent.destroy();
  });

  it('is a pause to clients of event streams: they come back to the server that is started again', async () => {
    alone = await Alone.begin();
    const url = () => `http://127.0.0.1:${alone.wire.port}/graphql/stream`;
    const retry = () => new Promise<void>((resume) => setTimeout(resume, 50));
    const client = createClient({ url, headers: bearer(alone), retry, retryAttempts: 1000 });
    const told: string[] = [];
    const ends: unknown[] = [];
    client.subscribe<Loose>(
      { query: 'subscription { contactEvents(ready: true) { kind contact { firstName } } }' },
      {
        next: ({ data }) => void told.push(data!.contactEvents.contact?.firstName ?? data!.contactEvents.kind),
        error: (error) => void ends.push(error),
        complete: () => void ends.push('complete'),
      },
    );
    await eventually(() => told.length === 1);
    alone.process.signal('SIGTERM');
    expect(await alone.process.ended()).toBe(0);
    await alone.start();
    await eventually(() => told.length === 2, 20_000);
    await alone.caller.post('/contacts', { firstName: 'Afterwards' });
    await eventually(() => told.length === 3);
    expect([told, ends]).toEqual([['ready', 'ready', 'Afterwards'], []]);
    client.dispose();
  });
});

describe('SIGTERM, where others do not do their part,', () => {
  it('ends in good order although a mail server takes a mail and says nothing', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    // Registering writes a mail.
    alone = await Alone.begin({ SMTP_URL: `smtp://127.0.0.1:${port}`, LOG_LEVEL: 'warn' });
    const begun = Date.now();
    alone.process.signal('SIGTERM');
    expect(await alone.process.ended()).toBe(0);
    expect(Date.now() - begun).toBeLessThan(6000);
    expect(alone.process.output).toContain('mails were given up');
    silent.close();
  });

  it('answers whoever comes too late with our 503 and all of its headers', async () => {
    alone = await Alone.begin();
    // A socket that does not answer its close keeps the stop waiting for a second.
    const deaf = connect(alone.wire.port, '127.0.0.1');
    deaf.on('error', () => {});
    const upgrade = [
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Protocol: graphql-transport-ws',
    ];
    deaf.write(`GET /graphql HTTP/1.1\r\nHost: a\r\n${upgrade.join('\r\n')}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
    await once(deaf, 'data');
    deaf.pause();
    alone.process.signal('SIGTERM');
    const late: Response[] = [];
    const url = `http://127.0.0.1:${alone.wire.port}/api/v1/tags`;
    const headers = { authorization: `Bearer ${alone.secret}`, connection: 'close' };
    for (;;) {
      const reply = await fetch(url, { headers }).catch(() => undefined);
      if (!reply) break;
      if (reply.status !== 200) late.push(reply);
    }
    expect(late.length).toBeGreaterThan(0);
    for (const reply of late) {
      expect(await reply.json()).toMatchObject({ code: 'unavailable', requestId: reply.headers.get('x-request-id'), retryAfter: 1 });
      expect([reply.status, reply.headers.get('retry-after'), reply.headers.get('x-ratelimit-limit')]).toEqual([503, '1', '100']);
    }
    expect(await alone.process.ended()).toBe(0);
    deaf.destroy();
  });
});
