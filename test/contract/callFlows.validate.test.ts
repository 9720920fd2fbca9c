import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { graphFaults } from '../../src/modules/callFlows/callFlow.faults.js';
import { aFlow, bye, entry, graph, nextCaller, pathOf, publish, through, voiceNotice } from '../support/callFlows.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { least, processorTime } from '../support/time.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const blockersOf = async (flow: Loose): Promise<Loose[]> => dataOf(await acme.owner.get(`/call-flows/${flow.id}/validate`)).blockers;
const group = (fields: object) =>
  through({ kind: 'group', name: 'Sales', mode: 'simultaneous', members: [{ userId: acme.ownerId }], ringSeconds: 20, ...fields });

const timing = (id: string, next: string, closedNext: string) => ({
  ...{ id, kind: 'timing', hours: [{ day: 1, start: '09:00', end: '17:00' }] },
  ...{ next, closedNext },
});

const cases: [string, string, () => object][] = [
  ['bad_graph', 'no entry', () => graph(bye)],
  ['bad_graph', 'another entry', () => graph(entry('other'), { id: 'other', kind: 'entry', next: 'bye' }, bye)],
  ['bad_graph', 'a next that names nothing', () => graph(entry('nowhere'), bye)],
  ['bad_graph', 'a kind that is none', () => through({ kind: 'carousel' })],
  ['bad_graph', 'words that are no text', () => through({ kind: 'greeting', text: 5 })],
  ['bad_graph', 'an address of a sound that is no text', () => through({ kind: 'greeting', audioUrl: ['https://example.com/a.mp3'] })],
  ['bad_graph', 'a menu whose words are no text', () => through({ kind: 'menu', text: {}, options: [{ digit: '1', next: 'bye' }] })],
  ['bad_graph', 'an address of a sound that is none', () => through({ kind: 'greeting', audioUrl: 'a sound' })],
  [
    'bad_graph',
    'an address of a sound that no phone plays',
    () => through({ kind: 'menu', audioUrl: 'ftp://x/a', options: [{ digit: '1', next: 'bye' }] }),
  ],
  ['missing_ending', 'no ending at all', () => graph(entry(null))],
  [
    'path_no_ending',
    'a branch that stops',
    () => through({ kind: 'timing', hours: [{ day: 1, start: '09:00', end: '17:00' }], closedNext: null }),
  ],
  [
    'path_no_ending',
    'a circle',
    () =>
      graph(
        entry('m'),
        { id: 'm', kind: 'menu', options: [{ digit: '1', next: 'a' }], next: 'bye' },
        { id: 'a', kind: 'greeting', text: 'A', next: 'b' },
        { id: 'b', kind: 'greeting', text: 'B', next: 'a' },
        bye,
      ),
  ],
  ['path_no_ending', 'closed hours that lead back to themselves', () => graph(entry('t'), timing('t', 'bye', 't'), bye)],
  [
    'path_no_ending',
    'open hours that lead back to themselves over others',
    () =>
      graph(
        entry('t'),
        timing('t', 'a', 'bye'),
        { id: 'a', kind: 'agent', userId: acme.ownerId, ringSeconds: 20, next: 'm' },
        { id: 'm', kind: 'menu', options: [{ digit: '1', next: 't' }], next: 'a' },
        bye,
      ),
  ],
  ['unreachable_node', 'a node that nothing leads to', () => graph(entry('bye'), bye, { id: 'lost', kind: 'hangup' })],
  ['bad_menu', 'a menu that offers nothing', () => through({ kind: 'menu', options: [] })],
  [
    'bad_menu',
    'two options of one digit',
    () =>
      through({
        kind: 'menu',
        options: [
          { digit: 1, next: 'bye' },
          { digit: '1', next: 'bye' },
        ],
      }),
  ],
  ['bad_menu', 'a digit that no phone has', () => through({ kind: 'menu', options: [{ digit: '12', next: 'bye' }] })],
  ...[{ timeoutSeconds: 0 }, { timeoutSeconds: 61 }, { retries: -1 }, { retries: 11 }].map((fields): [string, string, () => object] => [
    'bad_menu',
    `a menu with ${JSON.stringify(fields)}`,
    () => through({ kind: 'menu', options: [{ digit: '1', next: 'bye' }], ...fields }),
  ]),
  ['bad_timing', 'no hours', () => through({ kind: 'timing', hours: [], closedNext: 'bye' })],
  ...[-1, 7].map((day): [string, string, () => object] => [
    'bad_timing',
    `hours of the day ${day}`,
    () => through({ kind: 'timing', hours: [{ day, start: '09:00', end: '17:00' }], closedNext: 'bye' }),
  ]),
  ...['25:00', '9:00', '24:00', '09:60', ''].map((start): [string, string, () => object] => [
    'bad_timing',
    `impossible hours ${start}`,
    () => through({ kind: 'timing', hours: [{ day: 1, start, end: '17:00' }], closedNext: 'bye' }),
  ]),
  [
    'bad_timing',
    'a zone that is none',
    () => through({ kind: 'timing', hours: [{ day: 0, start: '22:00', end: '02:00' }], timezone: 'Mars/Base', closedNext: 'bye' }),
  ],
  ['bad_ring_seconds', 'an agent who rings for no time', () => through({ kind: 'agent', userId: acme.ownerId, ringSeconds: 0 })],
  ['bad_ring_seconds', 'an agent who rings too long', () => through({ kind: 'agent', userId: acme.ownerId, ringSeconds: 601 })],
  ['bad_ring_seconds', 'a group that rings too long', () => group({ ringSeconds: 601 })],
  ['bad_ring_seconds', 'a queue that holds too short', () => group({ queue: { holdSeconds: 9 } })],
  ['bad_ring_seconds', 'a queue that holds too long', () => group({ queue: { holdSeconds: 301 } })],
  ['weights_not_100', 'weights that total 90', () => group({ mode: 'weighted', members: [{ userId: acme.ownerId, weight: 90 }] })],
  ['bad_forward_number', 'a number that is none', () => graph(entry('x'), { id: 'x', kind: 'forward', phoneNumber: '555' })],
  ['empty_group', 'a group of nobody', () => group({ members: [] })],
  ['member_no_phone', 'a member without a phone', () => through({ kind: 'agent', userId: acme.ownerId, ringSeconds: 20 })],
  ['number_missing', 'no number', () => graph(entry('bye'), bye)],
];

describe('GET /call-flows/{id}/validate', () => {
  it.each(cases)('%s: %s', async (code, _why, draftGraph) => {
    const flow = await aFlow(acme, { draftGraph: draftGraph() });
    const blockers = await blockersOf(flow);
    expect(blockers.map((blocker) => blocker.code)).toContain(code);
    const refused = await publish(acme, flow);
    expectRefusal(refused, 422);
    expect([refused.body.code, refused.body.blockers]).toEqual([blockers[0]!.code, blockers]);
  });

  // What an editor keeps of a node that has nobody yet, and words that are none.
  const odd: [string, () => object][] = [
    ['member_no_phone', () => through({ kind: 'agent', userId: '', ringSeconds: 20 })],
    ['member_no_phone', () => group({ members: [{ userId: 'nobody' }, { userId: { toString: 1 } }, null, {}] })],
    ['bad_graph', () => graph({ id: 'in', kind: '__proto__' })],
    ['bad_graph', () => graph({ id: 'in', kind: { toString: 1 } })],
    ['bad_graph', () => through({ kind: ['menu'], options: [null] })],
    ['bad_graph', () => through({ kind: ['agent'], userId: acme.ownerId, ringSeconds: 20 })],
    ['missing_ending', () => graph(entry('x'), { id: 'x', kind: ['voicemail'] })],
    ['bad_graph', () => group({ mode: ['weighted'], members: [{ userId: acme.ownerId, weight: 3 }] })],
    ['bad_graph', () => ({ ...graph(entry('bye'), bye), entryId: { toString: 1 } })],
    ['bad_graph', () => through({ kind: 'greeting', text: 'Hi', next: { toString: 1 } })],
  ];

  it.each(odd)('%s: words and people that are none are told, whatever they are', async (code, draftGraph) => {
    const flow = await aFlow(acme, { draftGraph: draftGraph() });
    expect((await blockersOf(flow)).map((blocker) => blocker.code)).toContain(code);
    expectRefusal(await publish(acme, flow), 422);
    const simulated = await acme.owner.post(`/call-flows/${flow.id}/simulate`, {});
    expect(simulated.status).toBe(code === 'member_no_phone' ? 200 : 422);
  });

  it('number_claimed: something else answers the number', async () => {
    const number = await freeNumber(acme);
    const { id } = dataOf(await acme.owner.post('/settings/numbers', { number }));
    const flow = await aFlow(acme, { phoneNumber: number });
    await api.app.database.prisma.phoneNumber.update({ where: { id }, data: { claimedBy: 'main_line' } });
    expect((await blockersOf(flow)).map(({ code }) => code)).toEqual(['number_claimed']);
    const [listed] = dataOf(await acme.owner.get(`/call-flows/numbers?number=${encodeURIComponent(number)}`)).data;
    expect(listed).toMatchObject({ number, claimedBy: { type: 'main_line' }, wired: false });
  });
});

describe('a graph that is validated', () => {
  it.each([
    { holdSeconds: 10, ringSeconds: 1, timeoutSeconds: 1, retries: 0 },
    { holdSeconds: 300, ringSeconds: 600, timeoutSeconds: 60, retries: 10 },
  ])('may go as far as %j', ({ holdSeconds, ringSeconds, timeoutSeconds, retries }) => {
    const { ownerId: userId } = acme;
    const hours = [0, 6].map((day) => ({ day, start: '00:00', end: '23:59' }));
    const nodes = [
      { id: 'hours', kind: 'timing', hours, next: 'menu', closedNext: 'bye' },
      { id: 'menu', kind: 'menu', timeoutSeconds, retries, options: [{ digit: '1', next: 'agent' }], next: 'bye' },
      { id: 'agent', kind: 'agent', userId, ringSeconds, next: 'team' },
      { id: 'team', kind: 'group', mode: 'simultaneous', members: [{ userId }], ringSeconds, queue: { holdSeconds }, next: 'bye' },
    ];
    expect(graphFaults(graph(entry('hours'), ...nodes, bye) as never)).toEqual([]);
  });

  it('knows people however their ids are spelled, and so does who rings them', async () => {
    const [phoneNumber, phone] = [await freeNumber(acme), '+14155550190'];
    const member = await acme.member();
    dataOf(await member.put('/call-flows/presence', { presence: 'on', phone }));
    const [userId, shouted] = [member.userId, member.userId.toUpperCase()];
    const members = [{ userId: shouted }, { userId }];
    const draftGraph = graph(
      entry('agent'),
      { id: 'agent', kind: 'agent', userId: shouted, ringSeconds: 20, next: 'team' },
      { id: 'team', kind: 'group', mode: 'simultaneous', members, ringSeconds: 20, next: 'bye' },
      bye,
    );
    const flow = await aFlow(acme, { phoneNumber, draftGraph });
    expect(await blockersOf(flow)).toEqual([]);
    const { ringOrder } = dataOf(await acme.owner.post(`/call-flows/${flow.id}/simulate`, {}));
    expect(ringOrder).toMatchObject(['agent', 'team'].map((nodeId) => ({ nodeId, userId, did: phone, rings: true })));
    expect(dataOf(await publish(acme, flow)).publishedGraph).toEqual(draftGraph);
    const form = { CallSid: 'CAshouted', From: nextCaller(), To: phoneNumber };
    const begun = await voiceNotice(api, '/webhooks/twilio/voice', form);
    expect(begun.text).toContain(`${phone}</Number>`);
    const [, action] = /<Dial[^>]* action="([^"]+)"/.exec(begun.text)!;
    const second = await voiceNotice(api, pathOf(api, action!), { ...form, DialCallStatus: 'no-answer' });
    expect(second.text.match(/<\/Number>/g)).toHaveLength(1);
  });
});

/** A name with a capital for each bit of a number. */
function capitals(name: string, n: number): string {
  let bit = 0;
  return name.replace(/[a-z]/g, (letter) => ((n >> bit++) & 1 ? letter.toUpperCase() : letter));
}

describe('the check of a graph of thousands of nodes', () => {
  it('takes time that is linear in the nodes', () => {
    const chain = (length: number) => ({
      entryId: 'in',
      nodes: [
        entry('n0'),
        ...Array.from({ length }, (_, n) => ({ id: `n${n}`, kind: 'greeting', text: 'Hi', next: n + 1 < length ? `n${n + 1}` : 'bye' })),
        bye,
      ],
    });
    // Of the processor, which others use as well.
    const best = (length: number) => {
      const long = chain(length);
      const times = Array.from({ length: 10 }, () => {
        const begin = process.cpuUsage();
        expect(graphFaults(long as never)).toEqual([]);
        return process.cpuUsage(begin).user;
      });
      return Math.min(...times);
    };
    // Both are measured once the code is compiled for good.
    best(10_000);
    expect(best(10_000)).toBeLessThan(20 * Math.max(best(1000), 250));
  });

  it('tells a hundred of tens of thousands of blockers', async () => {
    const groups = Array.from({ length: 9000 }, (_, n) => ({ id: `g${n}`, kind: 'group' }));
    const flow = await aFlow(acme, { draftGraph: graph(entry('g0'), ...groups) });
    const blockers = await blockersOf(flow);
    expect(blockers).toHaveLength(100);
    expect((await publish(acme, flow)).body.blockers).toEqual(blockers);
    expect((await acme.owner.post(`/call-flows/${flow.id}/simulate`, {})).body.blockers).toHaveLength(100);
  });

  it('looks at thousands of time zones no longer than a moment', async () => {
    const ids = Array.from({ length: 9000 }, (_, n) => `t${n}`);
    const spelled = (name: string) => (n: number) => capitals(name, n);
    const zones: [zone: (n: number) => string, isGood: boolean][] = [
      [(n) => (n % 2 ? 'Asia/Tokyo' : 'Nowhere/Land'), false],
      [spelled('america/los_angeles'), true],
      [spelled('nowhere/in_this_land'), false],
    ];
    for (const [zone, isGood] of zones) {
      const hours = ids.map((id, n) => ({ ...timing(id, ids[n + 1] ?? 'bye', 'bye'), timezone: zone(n) }));
      const nodes = { entryId: 'in', nodes: [entry('t0'), ...hours, bye] };
      const time = await least(3, () => processorTime(async () => expect(graphFaults(nodes as never).length === 0).toBe(isGood)));
      expect(time).toBeLessThan(500);
    }
  });

  it('follows thousands of timings no longer than a moment', async () => {
    const ids = Array.from({ length: 9000 }, (_, n) => `t${n}`);
    const hours = ids.map((id, n) => timing(id, ids[n + 1] ?? 'bye', ids[n - 1] ?? 'bye'));
    const circles = { entryId: 'in', nodes: [entry('t0'), ...hours, bye] };
    const time = await least(3, () => processorTime(async () => expect(graphFaults(circles as never)).toEqual([])));
    expect(time).toBeLessThan(500);
  });
});
