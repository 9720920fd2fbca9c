import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isOpen } from '../../src/modules/callFlows/callFlow.hours.js';
import { ringOrder } from '../../src/modules/callFlows/callFlow.route.js';
import { aFlow, bye, entry, graph } from '../support/callFlows.js';
import { type Account, dataOf, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let _acme: Account;
beforeAll(async () => {
  api = await server();
  _acme = await api.seed.account();
});
afterAll(() => api.close());

describe('POST /call-flows/{id}/simulate', () => {
  it('tells who would be rung and where the call would end, and keeps nothing', async () => {
    const own = await api.seed.account();
    const [away, there] = [await own.member(), await own.member()];
    dataOf(await there.put('/call-flows/presence', { presence: 'on', phone: '+14155550166' }));
    const members = [away, there].map(({ userId }) => ({ userId }));
    const draftGraph = graph(
      entry('hours'),
      {
        id: 'hours',
        kind: 'timing',
        hours: [{ day: 5, start: '22:00', end: '02:00' }],
        timezone: 'Europe/Berlin',
        next: 'menu',
        closedNext: 'bye',
      },
      { id: 'menu', kind: 'menu', text: 'Press 1', options: [{ digit: '1', next: 'team' }], next: 'bye' },
      { id: 'team', kind: 'group', mode: 'round_robin', members, ringSeconds: 20, next: 'vm' },
      { id: 'vm', kind: 'voicemail', next: null },
      bye,
    );
    const flow = await aFlow(own, { draftGraph });
    const simulate = async (body: object) => dataOf(await own.owner.post(`/call-flows/${flow.id}/simulate`, body));
    await expectNothingWritten(api, async () => {
      // Saturday, 01:30 in Berlin.
      const open = await simulate({ digits: ['1'], at: '2030-06-07T23:30:00Z' });
      expect(open.path).toEqual(['in', 'hours', 'menu', 'team', 'vm']);
      expect(open.ringOrder.map(({ rings, presence }: Loose) => [rings, presence])).toEqual([
        [false, 'off'],
        [true, 'on'],
      ]);
      expect(open.ending).toEqual({ nodeId: 'vm', kind: 'voicemail' });
      expect((await simulate({ at: '2030-06-07T23:30:00Z' })).ending.nodeId).toBe('bye');
      expect((await simulate({ digits: ['1'], at: '2030-06-08T00:30:00Z' })).path).toEqual(['in', 'hours', 'bye']);
    });
  });
});

describe('GET /call-flows/roster', () => {
  it('lists the active members with phone and presence', async () => {
    const own = await api.seed.account();
    const { data, meta } = dataOf(await own.owner.get('/call-flows/roster'));
    expect([meta.total, data[0]]).toEqual([1, expect.objectContaining({ userId: own.ownerId, did: null, presence: 'off' })]);
    dataOf(await own.owner.put('/call-flows/presence', { presence: 'on', phone: '(415) 555-0123' }));
    expect(dataOf(await own.owner.get('/call-flows/roster?presence=on')).data).toMatchObject([{ did: '+14155550123', presence: 'on' }]);
    expectRefusal(await own.owner.put('/call-flows/presence', { presence: 'busy' }), 400, 'presence');
  });
});

describe('opening hours and turns', () => {
  it('go on after midnight, and follow the clocks of the zone', () => {
    const night = [{ day: 6, start: '22:00', end: '02:00' }];
    const at = (moment: string) => isOpen(night, 'America/New_York', new Date(moment));
    // Saturday 22:00 in New York is Sunday 02:00 UTC in summer.
    expect(['2030-06-09T01:59:00Z', '2030-06-09T02:00:00Z', '2030-06-09T05:59:00Z', '2030-06-09T06:00:00Z'].map(at)).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(isOpen([{ day: 0, start: '00:00', end: '00:00' }], 'UTC', new Date('2030-06-09T12:00:00Z'))).toBe(true);
  });

  it('rotate, or are drawn by weight', () => {
    const members = ['a', 'b', 'c'].map((userId, n) => ({ userId, weight: [0, 100, 0][n]! }));
    const clock = { bytes: (length: number) => Buffer.alloc(length, 0x80) };
    const order = (mode: 'round_robin' | 'weighted', turn: number) =>
      ringOrder({ id: 'x', kind: 'group', mode, members, ringSeconds: 20, next: 'y' }, turn, clock).join('');
    expect([0, 1, 2, 3].map((turn) => order('round_robin', turn))).toEqual(['abc', 'bca', 'cab', 'abc']);
    expect(order('weighted', 0)[0]).toBe('b');
  });
});
