import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ownPlaceIn } from '../../src/kernel/base/trace.js';
import { inLog } from '../../src/kernel/context/context.js';
import { type Account, dataOf, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';
import { Receiver } from '../support/receiver.js';

let crm: TestServer;
let account: Account;
let key: KeyClient;
beforeAll(async () => {
  crm = await server();
  account = await crm.seed.account();
  key = await account.key();
});
afterAll(() => crm.close());

const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
const parent = '00f067aa0ba902b7';
const sampled = `00-${trace}-${parent}-01`;
const ours = new RegExp(`^00-${trace}-(?!${parent}|0{16})[0-9a-f]{16}-01$`);

const eventOf = (id: string) =>
  eventually(
    async () => dataOf(await account.owner.get('/events?per_page=200')).data.find((event: Loose) => event.entityId === id) as Loose,
  );

describe('a trace that a caller is in', () => {
  it('goes on in the events of what the request did, by a place of its own', async () => {
    const made = dataOf(await key.post('/contacts', { firstName: 'Traced' }, { traceparent: sampled }));
    expect((await eventOf(made.id)).traceparent).toMatch(ours);
    const { data } = await key.gql('mutation { createContact(input: { firstName: "Traced too" }) { id } }', {}, { traceparent: sampled });
    expect((await eventOf(data.createContact.id)).traceparent).toMatch(ours);
  });

  it('is named in the extensions where no header can be, as over WebSocket', async () => {
    const socket = await Socket.open(crm.wire.port, { init: bearer(key) });
    const query = 'mutation { createContact(input: { firstName: "By socket" }) { id } }';
    const feed = socket.run('{ __typename }');
    await feed.nth(1);
    socket.send({ id: 'traced', type: 'subscribe', payload: { query, extensions: { traceparent: sampled } } });
    const named = await eventually(async () =>
      dataOf(await account.owner.get('/events?per_page=200')).data.find(({ data }: Loose) => data.firstName === 'By socket'),
    );
    expect((named as Loose).traceparent).toMatch(ours);
    socket.cut();
  });

  it('goes on to the webhooks that are told of it, one place an attempt', async () => {
    const receiver = await Receiver.open();
    dataOf(await account.owner.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'] }));
    await key.post('/contacts', { firstName: 'Sent' }, { traceparent: sampled });
    await key.post('/contacts', { firstName: 'Untraced' });
    const received = await receiver.until(2);
    const placeOf = (name: string) => received.find(({ body }) => body.includes(name))!.headers.traceparent;
    expect(placeOf('Sent')).toMatch(ours);
    expect(placeOf('Untraced')).toBeUndefined();
    await receiver.close();
  });

  it('is none where its place is said otherwise than the standard has it', async () => {
    const made = dataOf(await key.post('/contacts', { firstName: 'Plain' }, { traceparent: 'nonsense' }));
    expect((await eventOf(made.id)).traceparent).toBeNull();
  });
});

describe('a line of the log', () => {
  it('is found by the request, and by the trace that it is part of', () => {
    const request = { id: 'a request', ip: '127.0.0.1' };
    expect(inLog({ ...request, traceparent: sampled })).toEqual({ requestId: 'a request', traceId: trace });
    expect(inLog(request)).toEqual({ requestId: 'a request' });
  });
});

describe('traceparent', () => {
  const placeIn = (text: string | undefined) => ownPlaceIn(text, crm.clock);

  it.each([sampled, `00-${trace}-${parent}-00`, `cc-${trace}-${parent}-01-what the next version has`, `00-${trace}-${parent}-ff`])(
    '%s is taken',
    (text) => {
      expect(placeIn(text)).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-0[01]$`));
    },
  );

  it.each([
    undefined,
    '',
    `ff-${trace}-${parent}-01`,
    `00-${trace}-${parent}-01-more`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}`,
    `${sampled},${sampled}`,
  ])('%s is not', (text) => {
    expect(placeIn(text)).toBeUndefined();
  });
});
