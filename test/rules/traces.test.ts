import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { unavailable } from '../../src/kernel/base/errors.js';
import { ownPlaceIn, stateOf } from '../../src/kernel/base/trace.js';
import { inLog } from '../../src/kernel/context/context.js';
import { type Account, dataOf, type KeyClient, type Loose, least, processorTime, server, type TestServer } from '../support/index.js';
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

  it('goes on with what the systems before say of it, and with none where they are in no trace', async () => {
    const made = async (headers: Record<string, string>) =>
      eventOf(dataOf(await key.post('/contacts', { firstName: 'State' }, headers)).id);
    const tracestate = 'congo=t61rcWkgMzE, rojo=00f067aa0ba902b7';
    expect((await made({ traceparent: sampled, tracestate })).tracestate).toBe('congo=t61rcWkgMzE,rojo=00f067aa0ba902b7');
    const bad = await made({ traceparent: sampled, tracestate: 'no member' });
    expect([bad.traceparent, bad.tracestate]).toEqual([expect.stringMatching(ours), null]);
    expect(await made({ tracestate })).toMatchObject({ traceparent: null, tracestate: null });
    expect(await made({ traceparent: 'nonsense', tracestate })).toMatchObject({ traceparent: null, tracestate: null });
  });

  it('is named in the extensions where no header can be, as over WebSocket', async () => {
    const socket = await Socket.open(crm.wire.port, { init: bearer(key) });
    const query = 'mutation { createContact(input: { firstName: "By socket" }) { id } }';
    const feed = socket.run('{ __typename }');
    await feed.nth(1);
    socket.send({ id: 'traced', type: 'subscribe', payload: { query, extensions: { traceparent: sampled, tracestate: 'rojo=1' } } });
    const named = await eventually(async () =>
      dataOf(await account.owner.get('/events?per_page=200')).data.find(({ data }: Loose) => data.firstName === 'By socket'),
    );
    expect([(named as Loose).traceparent, (named as Loose).tracestate]).toEqual([expect.stringMatching(ours), 'rojo=1']);
    socket.cut();
  });

  it('goes on to the webhooks that are told of it, one place an attempt', async () => {
    const receiver = await Receiver.open();
    dataOf(await account.owner.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'] }));
    await key.post('/contacts', { firstName: 'Sent' }, { traceparent: sampled, tracestate: 'rojo=1,congo=2' });
    await key.post('/contacts', { firstName: 'Untraced' });
    const received = await receiver.until(2);
    const headersOf = (name: string) => received.find(({ body }) => body.includes(name))!.headers;
    expect(headersOf('Sent')).toMatchObject({ traceparent: expect.stringMatching(ours), tracestate: 'rojo=1,congo=2' });
    expect(Object.keys(headersOf('Untraced')).filter((name) => name.startsWith('trace'))).toEqual([]);
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

  it('has the trace that a GET names in its extensions, beside the hash of its document too', async () => {
    const query = '{ dealAggregate { count sum { value } } }';
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const get = (params: Record<string, string>) =>
      key.raw({ path: `/graphql?${new URLSearchParams(params)}`, headers: { accept: 'application/graphql-response+json' } });
    const failing = jest.spyOn(crm.app.longReads, 'run');
    const own = { traceparent: sampled };
    const asked: Record<string, string>[] = [
      { query, extensions: JSON.stringify(own) },
      { query, documentId: sha256Hash, extensions: JSON.stringify(own) },
      { query, extensions: JSON.stringify({ ...own, persistedQuery: { version: 1, sha256Hash } }) },
    ];
    for (const [nth, params] of asked.entries()) {
      // A line a second of each kind.
      failing.mockRejectedValueOnce(unavailable(undefined, 1, new Error(`no turn ${nth}`)));
      const { requestId } = (await get(params)).body.errors[0].extensions;
      const lines = crm.logs.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);
      expect([nth, lines]).toMatchObject([nth, [{ traceId: trace }]]);
    }
    failing.mockRestore();
    for (const extensions of ['nonsense', '[]', '7'])
      expect([extensions, (await get({ query, documentId: sha256Hash, extensions })).status]).toEqual([extensions, 400]);
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

describe('tracestate', () => {
  const many = (count: number, value = '1') => Array.from({ length: count }, (_, nth) => `k${nth}=${value}`).join();

  it.each([
    ['rojo=00f067aa0ba902b7', 'rojo=00f067aa0ba902b7'],
    ['congo=t61 rcWk,rojo=~!', 'congo=t61 rcWk,rojo=~!'],
    [' a=1 ,\t b=2,,', 'a=1,b=2'],
    ['fw529a3039@dt=FfAxMjM0,0a-_*/b=1', 'fw529a3039@dt=FfAxMjM0,0a-_*/b=1'],
    [`k=${'v'.repeat(256)}`, `k=${'v'.repeat(256)}`],
    [many(32), many(32)],
  ])('%s is passed on', (text, passed) => {
    expect(stateOf(text)).toBe(passed);
  });

  it.each([
    undefined,
    '',
    ' , ,',
    'a',
    '=1',
    'a=',
    'A=1',
    'a b=1',
    'a=1=2',
    'a=é',
    `k=${'v'.repeat(257)}`,
    `${'k'.repeat(257)}=1`,
    'a=1,a=2',
    'a=1,nothing',
    many(33),
  ])('%s is not', (text) => {
    expect(stateOf(text)).toBeUndefined();
  });

  it('costs no more than a moment, however many blanks are in it', async () => {
    const blank = (many: number) => `a${' '.repeat(many)}b`;
    const looks = async () => {
      for (let n = 0; n < 50; n++) expect(stateOf(blank(19_000))).toBeUndefined();
      expect(stateOf(blank(1_000_000))).toBeUndefined();
    };
    expect(await least(3, () => processorTime(looks))).toBeLessThan(1000);
    expect(stateOf(`${' \t'.repeat(4000)}a=1${' \t'.repeat(4000)},b=2`)).toBe('a=1,b=2');
  });

  it('of more than 512 characters loses its longest members first, then its last ones, and none by half', () => {
    const long = `long=${'v'.repeat(130)}`;
    const short = many(20, 'v'.repeat(20));
    expect(short.length).toBeLessThan(512);
    expect(stateOf(`${long},${short}`)).toBe(short);
    const all = many(30, 'v'.repeat(20)).split(',');
    const kept = stateOf(all.join())!;
    expect([kept.length <= 512, all.join().startsWith(`${kept},`)]).toEqual([true, true]);
    expect(kept.length + all[kept.split(',').length]!.length + 1).toBeGreaterThan(512);
  });
});
