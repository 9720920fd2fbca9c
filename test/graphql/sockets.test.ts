import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, type KeyClient, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket, Stream } from '../support/live.js';

let crm: TestServer;
let account: Account;
let key: KeyClient;
beforeAll(async () => {
  crm = await server({
    limits: { key: 10_000, general: 10_000, login: 100, register: 100, security: 100, create: 1000, sockets: 3, keySockets: 5 },
  });
  account = await crm.seed.account();
  key = await account.key();
});
afterAll(() => crm.close());

const query = 'subscription ($after: ID) { events(after: $after) { id } }';
const open = (options: Parameters<typeof Socket.open>[1] = { init: bearer(key) }) => Socket.open(crm.wire.port, options);
const subscribers = async () => {
  const { text } = await crm.anybody().raw({ path: '/metrics' });
  return Number(/^subscribers (\d+)/m.exec(text)![1]);
};
const own = () => `http://127.0.0.1:${crm.wire.port}`;

describe('the protocol', () => {
  it('is graphql-transport-ws and no other: 4406', async () => {
    expect((await (await open({ protocol: '', init: null })).end()).code).toBe(4406);
    // The client itself gives up on a server that does not take its old protocol.
    const old = await open({ protocol: 'graphql-ws', init: null });
    expect((await old.end()).code).toBe(1006);
  });

  it('waits three seconds for connection_init: 4408', async () => {
    const begun = Date.now();
    const socket = await open({ init: null });
    expect((await socket.end()).code).toBe(4408);
    expect(Date.now() - begun).toBeLessThan(4500);
  });

  it('takes no operation before it: 4401', async () => {
    const socket = await open({ init: null });
    socket.run(query);
    expect((await socket.end()).code).toBe(4401);
  });

  it('takes it once: 4429', async () => {
    const socket = await open();
    socket.send({ type: 'connection_init' });
    expect((await socket.end()).code).toBe(4429);
  });

  it('takes each id once at a time: 4409', async () => {
    const socket = await open();
    socket.run(query, {}, 'same');
    socket.run(query, {}, 'same');
    expect((await socket.end()).code).toBe(4409);
  });

  it('takes nothing but its messages: 4400', async () => {
    const ofServers = [
      '{"type":"connection_ack"}',
      '{"type":"next","id":"1","payload":{}}',
      '{"type":"error","id":"1","payload":[{"message":"x"}]}',
    ];
    for (const text of ['{', '{"type":"explode"}', '[]', '{"type":"subscribe"}', ...ofServers]) {
      const socket = await open();
      socket.ws.send(text);
      expect((await socket.end()).code).toBe(4400);
    }
  });
});

describe('what one socket may do', () => {
  it('messages of at most 392 KB: 1009', async () => {
    const socket = await open();
    socket.ws.send(`{"type":"ping","payload":{"x":"${'x'.repeat(401_536)}"}}`);
    expect((await socket.end()).code).toBe(1009);
  });

  it('no flood of large ones: each 64 KB count as one: 4429', async () => {
    const socket = await open();
    const large = `{"type":"pong","payload":{"x":"${'x'.repeat(390_000)}"}}`;
    // It counts by the second, and a busy machine may take several for the first of them.
    for (let round = 0; round < 5 && !socket.closed; round++) {
      for (let n = 0; n < 60; n++) socket.ws.send(large);
      await eventually(() => socket.closed || socket.ws.bufferedAmount === 0, 60_000);
    }
    expect((await socket.end()).code).toBe(4429);
  });

  it('pings, but no flood of them: 4429', async () => {
    const socket = await open();
    let pongs = 0;
    socket.ws.on('pong', () => pongs++);
    socket.ws.ping();
    await eventually(() => pongs === 1);
    for (let n = 0; n < 1000 && socket.ws.readyState === socket.ws.OPEN; n++) socket.ws.ping();
    expect((await socket.end()).code).toBe(4429);
    expect(pongs).toBeLessThan(500);
  });

  it('50 operations at a time', async () => {
    const socket = await open();
    const feeds = Array.from({ length: 51 }, () => socket.run(query, { after: '0' }));
    const [error] = await feeds[50]!.refused();
    expect(error.message).toMatch(/50 operations/);
    await account.contact();
    await Promise.all(feeds.slice(0, 50).map((feed) => feed.nth(1)));
    expect(socket.closed).toBeUndefined();
    socket.cut();
  });

  it('nothing anywhere but at /graphql', async () => {
    const reply = await new Promise<string>((resolve) => {
      const raw = connect(crm.wire.port, '127.0.0.1');
      raw.on('data', (data) => resolve(data.toString()));
      raw.write(
        'GET //evil HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n',
      );
    });
    expect(reply).toMatch(/^HTTP\/1.1 404 /);
  });
});

describe('what is completed', () => {
  it('leaves its id free at once, and nothing of it stays', async () => {
    const before = await subscribers();
    const socket = await open();
    for (let i = 0; i < 5; i++) {
      socket.run(query, {}, 'same');
      socket.send({ id: 'same', type: 'complete' });
    }
    const feed = socket.run('subscription { events(ready: true) { kind } }', {}, 'same');
    await feed.nth(1);
    await eventually(async () => (await subscribers()) === before + 1);
    await account.contact();
    await feed.nth(2);
    expect(feed.results.map(({ data }) => data.events.kind)).toEqual(['ready', 'contact_created']);
    expect(feed.complete).toBeFalsy();
    let next = feed;
    socket.together(() => {
      socket.send({ id: 'same', type: 'complete' });
      next = socket.run('subscription { events(ready: true) { kind } }', {}, 'same');
    });
    await next.nth(1);
    await eventually(async () => (await subscribers()) === before + 1);
    await account.contact();
    await next.nth(2);
    expect(next.complete).toBeFalsy();
    socket.send({ id: 'same', type: 'complete' });
    await eventually(async () => (await subscribers()) === before);
    const answered = socket.run('{ contacts { totalCount } }', {}, 'again');
    socket.send({ id: 'again', type: 'complete' });
    const second = socket.run(query, {}, 'again');
    await eventually(async () => (await subscribers()) === before + 1);
    expect([answered.results, second.results]).toEqual([[], []]);
    socket.cut();
    await eventually(async () => (await subscribers()) === before);
  });
});

describe('who may connect', () => {
  it('a key, in connection_init or in the header of the upgrade', async () => {
    for (const options of [{ init: bearer(key) }, { headers: { authorization: `Bearer ${key.secret}` } }]) {
      const socket = await open(options);
      expect(socket.closed).toBeUndefined();
      socket.cut();
    }
  });

  it('nobody without credentials, or with wrong ones: 4401', async () => {
    for (const init of [
      {},
      { Authorization: 'Bearer nonsense' },
      { Authorization: `Bearer ${key.secret.slice(0, -1)}${key.secret.endsWith('x') ? 'y' : 'x'}` },
      { Authorization: 7 },
    ]) {
      const socket = await open({ init });
      expect((await socket.end()).code).toBe(4401);
    }
  });

  it('a key only from its addresses: 4403', async () => {
    const far = await account.key({ ipAllowlist: ['203.0.113.0/24'] });
    const socket = await open({ init: bearer(far) });
    expect(await socket.end()).toMatchObject({ code: 4403, reason: expect.stringMatching(/address/) });
  });

  it('a session from our own pages: with the cookie an own Origin is needed', async () => {
    const cookie = `service_session=${account.owner.cookie}`;
    const socket = await open({ headers: { cookie, origin: own() } });
    expect(socket.closed).toBeUndefined();
    const me = socket.run('{ me { user { id } } }');
    expect((await me.nth(1))[0].user.id).toBe(account.ownerId);
    socket.cut();
    for (const headers of [
      { cookie },
      { cookie, origin: 'https://evil.example' },
      { cookie, origin: 'null' },
      { cookie, origin: `${own()}.evil.example` },
    ]) {
      expect((await open({ headers: headers as Record<string, string> })).status).toBe(403);
    }
  });

  it('so many connections of a person and of a key at a time: 4429', async () => {
    const cookie = `service_session=${account.owner.cookie}`;
    const streams = [await Stream.open(account.owner, query), await Stream.open(account.owner, query)];
    const sockets = [await open({ headers: { cookie, origin: own() } })];
    expect(sockets[0]!.closed).toBeUndefined();
    expect((await (await open({ headers: { cookie, origin: own() } })).end()).code).toBe(4429);
    const refused = await Stream.open(account.owner, query);
    expect(refused.status).toBe(429);
    for (let n = 0; n < 5; n++) sockets.push(await open());
    expect((await (await open()).end()).code).toBe(4429);
    for (const one of [...streams, ...sockets]) one.cut();
    await eventually(async () => {
      const again = await open();
      const isOpen = !again.closed;
      again.cut();
      return isOpen;
    });
  });

  it('operations spend the bucket of their caller', async () => {
    const poor = await account.key({ rateLimit: 3 });
    const socket = await open({ init: bearer(poor) });
    for (let n = 0; n < 3; n++) await socket.run('{ checkApiKey { apiKeyId } }').nth(1);
    const [error] = await socket.run(query).refused();
    expect(error.extensions).toMatchObject({ code: 'rate_limited', status: 429, retryAfter: expect.any(Number) });
    socket.cut();
  });
});

describe('sockets of nobody who is known', () => {
  let small: TestServer;
  let known: object;
  beforeAll(async () => {
    small = await server({ limits: { general: 4, unknownSockets: 3 } });
    known = bearer(await (await small.seed.account()).key());
  });
  afterAll(() => small.close());

  const knock = (init: object | null, headers?: Record<string, string>) => Socket.open(small.wire.port, { init, headers });
  const isLetIn = async () => {
    const socket = await knock(known);
    const isIn = !socket.closed;
    socket.cut();
    return isIn;
  };

  it('are refused with 4429 after as many of an address as requests may come, which have none fewer by it', async () => {
    const origin = `http://127.0.0.1:${small.wire.port}`;
    const remaining = async () => Number((await small.anybody().get('/contacts')).headers['x-ratelimit-remaining']);
    const before = await remaining();
    const codes: number[] = [];
    for (let n = 0; n < 5; n++) {
      const socket = await (n % 2 ? knock({}, { cookie: `service_session=wrong${n}`, origin }) : knock({ Authorization: 'Bearer wrong' }));
      codes.push((await socket.end()).code);
    }
    expect(codes).toEqual([4401, 4401, 4401, 4401, 4429]);
    expect(await remaining()).toBe(before - 1);
    expect(await isLetIn()).toBe(true);
  });

  it('may be so many of an address at a time, and count no more once they are known or gone', async () => {
    const strangers = [await knock(null), await knock(null)];
    const friends: Socket[] = [];
    for (let n = 0; n < 10; n++) friends.push(await knock(known));
    expect(friends.filter(({ closed }) => closed)).toEqual([]);
    strangers.push(await knock(null));
    const refused = await knock(known);
    expect(refused.status).toBe(429);
    strangers[0]!.send({ type: 'connection_init', payload: known });
    await eventually(isLetIn);
    for (const one of [...strangers, ...friends]) one.cut();
    await eventually(isLetIn);
  });
});

describe('an upgrade', () => {
  it('that fails for a fault of ours ends nothing but its socket', async () => {
    const broken = await server({ config: { publicUrl: 'no address' } });
    const socket = await Socket.open(broken.wire.port, { init: null, headers: { cookie: 'service_session=x', origin: 'http://a' } });
    expect(socket.closed).toBeDefined();
    expect((await broken.anybody().raw({ path: '/healthz' })).status).toBe(200);
    await broken.close();
  });
});
