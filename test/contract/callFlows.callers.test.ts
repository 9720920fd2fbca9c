import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isOpen } from '../../src/modules/callFlows/callFlow.hours.js';
import { ringOrder } from '../../src/modules/callFlows/callFlow.route.js';
import { aFlow, bye, entry, graph, loggedCall, nextCaller, pathOf, publish, voiceNotice } from '../support/callFlows.js';
import {
  type Account,
  dataOf,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  least,
  processorTime,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
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

it('refuses what is no key of a telephone, naming it', async () => {
  const { id } = await aFlow(acme);
  for (const wrong of ['x', 'A', '٣', ''])
    expectRefusal(await acme.owner.post(`/call-flows/${id}/simulate`, { digits: ['1', wrong] }), 400, 'digits.1');
  dataOf(await acme.owner.post(`/call-flows/${id}/simulate`, { digits: [...'0123456789*#'] }));
});

describe('a simulated caller who is led in circles', () => {
  /** A menu that leads to nodes and back, and to an ending by 9. */
  const around = (nodes: object[]) =>
    graph(
      entry('menu'),
      { id: 'menu', kind: 'menu', text: 'Press 9', options: [{ digit: '9', next: 'bye' }], next: 'first' },
      ...nodes,
      bye,
    );
  const simulated = async (draftGraph: object, body: object) =>
    dataOf(await acme.owner.post(`/call-flows/${(await aFlow(acme, { draftGraph })).id}/simulate`, body));

  it('costs as much where a circle leads a hundred times through thousands of members and hours', async () => {
    const members = Array(9000).fill({ userId: acme.ownerId });
    const hours = Array(9000).fill({ day: 1, start: '09:00', end: '09:01' });
    const draftGraph = around([
      { id: 'first', kind: 'group', mode: 'simultaneous', members, ringSeconds: 20, next: 'hours' },
      { id: 'hours', kind: 'timing', hours, next: 'menu', closedNext: 'menu' },
    ]);
    const { id } = await aFlow(acme, { draftGraph });
    const time = (digits: string[]) =>
      least(3, () => processorTime(async () => void dataOf(await acme.owner.post(`/call-flows/${id}/simulate`, { digits }))));
    const [once, often] = [await time([]), await time(Array(100).fill('1'))];
    // Two million looks at members and hours take several times as long as all else.
    expect(often).toBeLessThan(2 * Math.max(once, 75));
  });

  it('goes around as often as something is pressed, and ends where a circle closes with nothing left to press', async () => {
    const draft = around([
      { id: 'first', kind: 'greeting', text: 'One', next: 'second' },
      { id: 'second', kind: 'greeting', text: 'Two', next: 'menu' },
    ]);
    const circle = await simulated(draft, {});
    expect(circle).toEqual({ path: ['in', 'menu', 'first', 'second', 'menu'], ringOrder: [], ending: null });
    const { path, ending } = await simulated(draft, { digits: [...Array(20).fill('1'), '9'] });
    expect([path.length, ending]).toEqual([1 + 20 * 3 + 2, { nodeId: 'bye', kind: 'hangup' }]);
  });

  it('is over soon, whatever the draft: in a circle with very many people, and nodes that nobody comes to', async () => {
    const members = Array.from({ length: 1000 }, () => ({ userId: api.app.clock.id() }));
    const long = Array.from({ length: 1000 }, (_, n) => ({
      id: `n${n}`,
      kind: 'greeting',
      text: 'Hi',
      next: n < 999 ? `n${n + 1}` : 'bye',
    }));
    const group = { id: 'first', kind: 'group', mode: 'simultaneous', members, ringSeconds: 20, next: 'menu' };
    const draft = around([group, ...long]) as Loose;
    draft.nodes[1].options.push({ digit: '1', next: 'n0' });
    const once = await simulated(draft, {});
    expect([once.path, once.ringOrder.length]).toEqual([['in', 'menu', 'first', 'menu'], 1000]);
    const most = await simulated(draft, { digits: Array(100).fill('2') });
    expect([most.ringOrder.length, most.ending]).toEqual([100_000, null]);
  });
});

describe('PUT /call-flows/presence', () => {
  it('tells that a member changed, and their phone to nobody: users show none', async () => {
    const own = await api.seed.account();
    const { rows } = await toldIn(own, async () => {
      for (const body of [{ presence: 'on', phone: '+14155550177' }, { phone: '+14155550178' }])
        dataOf(await own.owner.put('/call-flows/presence', body));
    });
    expect(rows.map(({ name, changes }) => [name, changes])).toEqual([
      ['user.updated', { presence: { from: 'off', to: 'on' } }],
      ['user.updated', null],
    ]);
    expect(JSON.stringify(rows.map(({ data, changes }) => [data, changes]))).not.toContain('1415555');
  });

  it('keeps a presence and a phone that are said at the same moment', async () => {
    const { owner } = await api.seed.account();
    for (let round = 0; round < 20; round++) {
      const said = { presence: round % 2 ? 'off' : 'on', did: `+141555501${String(round).padStart(2, '0')}` };
      const bodies = [{ presence: said.presence }, { phone: said.did }];
      const replies = await Promise.all(bodies.map((body) => owner.put('/call-flows/presence', body)));
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      expect(dataOf(await owner.get('/call-flows/roster')).data).toMatchObject([said]);
    }
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

  it('shows as a phone what can be called, in one form, and nothing else', async () => {
    const own = await api.seed.account();
    const member = await own.member();
    const seen = async () => {
      const { data } = dataOf(await own.owner.get('/call-flows/roster'));
      const { data: asked } = await own.owner.gql('{ callFlowRoster { nodes { userId did } } }');
      const set = dataOf(await member.put('/call-flows/presence', { presence: 'on' }));
      const dids = [data, (asked as Loose).callFlowRoster.nodes].map(
        (all) => all.find(({ userId }: Loose) => userId === member.userId).did,
      );
      return [...dids, set.did];
    };
    for (const [phone, did] of [
      ['(415) 555-0177', '+14155550177'],
      ['see my card', null],
      ['+1 415 555 0177 ext. 5', null],
    ] as const) {
      // As an invitation keeps it.
      await api.app.database.prisma.membership.updateMany({ where: { accountId: own.id, userId: member.userId }, data: { phone } });
      expect(await seen()).toEqual([did, did, did]);
    }
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
      ringOrder({ id: 'x', kind: 'group', mode, members, ringSeconds: 20, next: 'y' }, turn, { clock, isRung: () => true }).join('');
    expect([0, 1, 2, 3].map((turn) => order('round_robin', turn))).toEqual(['abc', 'bca', 'cab', 'abc']);
    expect(order('weighted', 0)[0]).toBe('b');
  });

  it('rotate among those who are rung, with the same share for each', () => {
    const members = ['a', 'b', 'c', 'd'].map((userId) => ({ userId }));
    const clock = { bytes: (length: number) => Buffer.alloc(length) };
    const isRung = (userId: string) => !['b', 'd'].includes(userId);
    const order = (turn: number) =>
      ringOrder({ id: 'x', kind: 'group', mode: 'round_robin', members, ringSeconds: 20, next: 'y' }, turn, { clock, isRung });
    expect([0, 1, 2, 3].map((turn) => order(turn).filter(isRung).join(''))).toEqual(['ac', 'ca', 'ac', 'ca']);
    expect(order(1)).toHaveLength(4);
  });

  it('are drawn among those who are rung, at most fifty of them; the others come behind', () => {
    const members = Array.from({ length: 200 }, (_, n) => ({ userId: `u${n}`, weight: 0.5 }));
    const clock = { bytes: (length: number) => Buffer.alloc(length, 0x40) };
    const order = (isRung: (userId: string) => boolean) =>
      ringOrder({ id: 'x', kind: 'group', mode: 'weighted', members, ringSeconds: 20, next: 'y' }, 0, { clock, isRung });
    const lastTwo = (userId: string) => ['u198', 'u199'].includes(userId);
    expect(order(lastTwo).slice(0, 2)).toEqual(expect.arrayContaining(['u198', 'u199']));
    expect(order(lastTwo)).toHaveLength(200);
    expect(order(() => true)).toHaveLength(50);
  });
});

const notice = (path: string, form: Record<string, string>) => voiceNotice(api, path, form);
const logged = (sid: string) => loggedCall(api, acme, sid);
const answering = async (draftGraph: object) =>
  dataOf(await publish(acme, await aFlow(acme, { phoneNumber: await freeNumber(acme), draftGraph })));
const status = (sid: string, to: string, more: Record<string, string> = {}) =>
  notice('/webhooks/twilio/voice/status', { CallSid: sid, From: nextCaller(), To: to, CallStatus: 'completed', ...more });

describe('reports of a call', () => {
  it('of a forward that somebody took keep that, whether they come before or after its end', async () => {
    const flow = await answering(graph(entry('x'), { id: 'x', kind: 'forward', phoneNumber: '+14155550111', next: null }));
    const begin = async (sid: string) => {
      const form = { CallSid: sid, From: nextCaller(), To: flow.phoneNumber };
      const { text } = await notice('/webhooks/twilio/voice', form);
      const [, action] = /action="([^"]+)"/.exec(text)!;
      const [, told] = /statusCallback="([^"]+)"/.exec(text)!;
      return { action: () => notice(pathOf(api, action!), { ...form, DialCallStatus: 'completed' }), answered: pathOf(api, told!) };
    };
    const late = await begin('CAforwardLate');
    await status('CAforwardLate', flow.phoneNumber, { CallDuration: '300' });
    expect((await late.action()).text).toContain('<Hangup');
    expect(await logged('CAforwardLate')).toMatchObject({ status: 'completed', userId: null, duration: 300 });

    const { answered } = await begin('CAforwardTaken');
    await notice(answered, { ParentCallSid: 'CAforwardTaken' });
    const { data } = await acme.owner.gql('{ liveCalls(filter: { status: in_progress }) { nodes { providerId userId } } }');
    expect((data as Loose).liveCalls.nodes).toEqual([{ providerId: 'CAforwardTaken', userId: null }]);
    await status('CAforwardTaken', flow.phoneNumber, { CallDuration: '10' });
    expect((await logged('CAforwardTaken')).status).toBe('completed');
  });

  it('that its beginning comes after are kept, and nothing goes on', async () => {
    const { id, phoneNumber } = await answering(graph(entry('bye'), bye));
    api.clock.advance(10_000);
    const from = nextCaller();
    const ends = { From: from, CallDuration: '3' };
    await Promise.all([1, 2].map(() => status('CAovertaken', phoneNumber, ends)));
    const begun = await notice('/webhooks/twilio/voice', { CallSid: 'CAovertaken', From: from, To: phoneNumber });
    expect(begun.text).toMatch(/<Response><Hangup ?\/><\/Response>/);
    const known = { status: 'missed', duration: 3, callFlowId: id, callFlowVersion: 1, fromNumber: from, userId: null };
    expect(await logged('CAovertaken')).toMatchObject(known);
    expect(await api.app.database.prisma.liveCall.count({ where: { accountId: acme.id, providerId: 'CAovertaken' } })).toBe(0);
  });

  it('that come with its beginning are kept, whichever is first', async () => {
    const { id, phoneNumber } = await answering(graph(entry('bye'), bye));
    api.clock.advance(10_000);
    const [from, ends] = [nextCaller(), { CallDuration: '3' }];
    const sids = Array.from({ length: 8 }, (_, n) => `CAsameMoment${n}`);
    await Promise.all(
      sids.flatMap((sid) => [
        notice('/webhooks/twilio/voice', { CallSid: sid, From: from, To: phoneNumber }),
        status(sid, phoneNumber, ends),
      ]),
    );
    for (const sid of sids) expect(await logged(sid)).toMatchObject({ status: 'missed', duration: 3 });
    expect(await api.app.database.prisma.liveCall.count({ where: { accountId: acme.id, providerId: { in: sids } } })).toBe(0);
    // Of a number that no flow answers nothing is logged.
    dataOf(await acme.owner.post(`/call-flows/${id}/unpublish`));
    await status('CAnoFlow', phoneNumber, ends);
    expect(await api.app.database.prisma.call.count({ where: { accountId: acme.id, providerId: 'CAnoFlow' } })).toBe(0);
  });
});
