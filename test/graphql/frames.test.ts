import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { framed } from '../../src/graphql/message.js';
import { type Account, type KeyClient, server, type TestServer } from '../support/index.js';
import { bearer, Socket } from '../support/live.js';

describe('a frame', () => {
  it('is the message that it was made of, whatever its length is', async () => {
    const [before, after] = [Buffer.from('{"id":"ä","payload":'), Buffer.from('}')];
    const around = before.length + after.length;
    const texts = [1, 125, 126, 127, 4000, 16_384, 16_404, 65_535, 65_536, 300_000].map((length) => 'é'.padEnd(length - around - 1, 'x'));
    const http = createServer();
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    http.on('upgrade', (request, line, head) => {
      sockets.handleUpgrade(request, line, head, (ws) => {
        for (const text of texts) {
          for (const chunk of framed(before, Buffer.from(text), after)) line.write(chunk);
          // The socket's own frames stand between them as they are sent.
          ws.send('own');
        }
        ws.close(1000);
      });
    });
    await once(http.listen(0, '127.0.0.1'), 'listening');
    const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`);
    const heard: string[] = [];
    client.on('message', (data, isBinary) => heard.push(isBinary ? 'binary' : data.toString()));
    const [code] = await once(client, 'close');
    http.close();
    expect(code).toBe(1000);
    expect(heard).toEqual(texts.flatMap((text) => [`${before}${text}${after}`, 'own']));
  });
});

describe('results of one document for several', () => {
  let crm: TestServer;
  let account: Account;
  let key: KeyClient;
  beforeAll(async () => {
    crm = await server();
    account = await crm.seed.account();
    key = await account.key();
  });
  afterAll(() => crm.close());

  it.each([
    ['small', 'contactEvents { kind }', 'one'],
    ['of some lines', 'contactEvents { kind names contact { id firstName lastName email } }', 'zwei „ä“ 😀'],
  ])('%s ones, go to each under its own id, whatever else its socket is sent', async (_size, field, id) => {
    const sockets = await Promise.all([1, 2, 3].map(() => Socket.open(crm.wire.port, { init: bearer(key) })));
    const feeds = sockets.flatMap((socket) => [socket.run(`subscription { ${field} }`, {}, id), socket.run(`subscription { ${field} }`)]);
    // Their sockets tell that they have begun.
    await Promise.all(sockets.map((socket) => socket.run('{ __typename }').nth(1)));
    const contacts = await Promise.all([1, 2].map((n) => account.contact({ firstName: `Zoë 😀 ${n}`, jobTitle: 'ß'.repeat(150) })));
    const asides = sockets.map((socket) => socket.run('{ contacts(first: 2) { nodes { id firstName } } }'));
    for (const { id: changed } of contacts) await account.owner.patch(`/contacts/${changed}`, { lastName: 'Ångström' });
    const [first, ...others] = await Promise.all(feeds.map((feed) => feed.nth(4)));
    for (const other of others) expect(other).toEqual(first);
    expect(first).toHaveLength(4);
    await Promise.all(asides.map((aside) => aside.nth(1)));
    expect(sockets.map(({ closed }) => closed)).toEqual([undefined, undefined, undefined]);
    for (const socket of sockets) socket.cut();
  });

  it('so large that each of them is sent from the same bytes', async () => {
    const sockets = await Promise.all([1, 2].map(() => Socket.open(crm.wire.port, { init: bearer(key) })));
    const feeds = sockets.map((socket) => socket.run('subscription { noteEvents { a: note { body } b: note { body } } }'));
    await Promise.all(sockets.map((socket) => socket.run('{ __typename }').nth(1)));
    const contact = await account.contact();
    const bodies = [10_000, 20_000].map((length) => 'ß'.repeat(length));
    for (const body of bodies) expect((await key.post('/notes', { contactId: contact.id, body })).status).toBe(201);
    for (const feed of feeds) expect(await feed.nth(2)).toEqual(bodies.map((body) => ({ a: { body }, b: { body } })));
    for (const socket of sockets) socket.cut();
  });
});
