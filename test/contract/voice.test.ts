import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PlacedCall, Transcript } from '../../src/vendors/sms/simulatedCalls.js';
import { sweep } from '../../src/workers/sweeps.js';
import {
  anAgent,
  bye,
  dials,
  entry,
  graph,
  loggedCall,
  nextCaller,
  pathOf,
  placeCall,
  publish,
  publishedOn,
  voiceNotice,
} from '../support/callFlows.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
let agents: { userId: string; phone: string }[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  agents = await Promise.all(['+14155550161', '+14155550162'].map((phone) => anAgent(acme, phone)));
});
afterAll(() => api.close());

/** A published flow and its number. */
const answering = async (draftGraph: object, account = acme) => publishedOn(await freeNumber(account), draftGraph, account);
const call = (to: string, placed?: Partial<PlacedCall>) => placeCall(api, to, placed);
const logged = (sid: string, account = acme) => loggedCall(api, account, sid);
const heard = ({ log }: Transcript) => log.flatMap(({ say }) => (say ? [say as string] : []));

const notice = (path: string, form: Record<string, string>, signature?: string) => voiceNotice(api, path, form, signature);

const member = (nth: number, weight?: number) => ({ userId: agents[nth]!.userId, ...(weight !== undefined && { weight }) });

const pathIn = (address: string) => pathOf(api, address);

describe('a caller who says nothing', () => {
  const menu = { kind: 'menu', timeoutSeconds: 1, retries: 1, options: [{ digit: '1', next: 'bye' }] };

  it('is led through the menus three times, then the call ends', async () => {
    const nodes = [
      { ...menu, id: 'one', text: 'One', next: 'two' },
      { ...menu, id: 'two', text: 'Two', next: 'one' },
    ];
    const { phoneNumber } = await answering(graph(entry('one'), ...nodes, bye));
    const silent = await call(phoneNumber, { twice: true });
    const round = ['One', 'One', 'Two', 'Two'];
    expect(heard(silent)).toEqual([...round, ...round, ...round, 'Nothing was chosen. Good bye.']);
    expect(silent.log.at(-1)).toEqual({ end: 'completed' });
  });

  it('is led on as long as something is chosen, or somebody is rung', async () => {
    const again = {
      ...menu,
      id: 'one',
      retries: 0,
      text: 'One',
      options: [
        { digit: '1', next: 'one' },
        { digit: '2', next: 'bye' },
      ],
      next: 'one',
    };
    const chosen = await answering(graph(entry('one'), again, bye));
    expect(heard(await call(chosen.phoneNumber, { digits: ['', '', '1', '', '', '1', '2'] }))).toEqual(Array(7).fill('One'));
    const ring = { id: 'ring', kind: 'agent', userId: agents[0]!.userId, ringSeconds: 5, next: 'one' };
    const rung = await answering(graph(entry('one'), { ...again, next: 'ring' }, ring, bye));
    expect(dials(await call(rung.phoneNumber, { digits: ['', '', '', '', '', '2'] }))).toHaveLength(5);
  });
});

describe('a call through every node', () => {
  const always = [0, 1, 2, 3, 4, 5, 6].map((day) => ({ day, start: '00:00', end: '00:00' }));
  const flow = () =>
    graph(
      entry('hello'),
      { id: 'hello', kind: 'greeting', text: 'Tom & <Jerry>', audioUrl: 'https://example.com/hi.mp3?a=1&b=2', next: 'hours' },
      { id: 'hours', kind: 'timing', hours: always, timezone: 'Europe/Berlin', next: 'menu', closedNext: 'bye' },
      {
        ...{ id: 'menu', kind: 'menu', text: 'Press one or two', timeoutSeconds: 3, retries: 1, next: 'bye' },
        options: [
          { digit: '1', label: 'Sales', next: 'agent' },
          { digit: 2, next: 'forward' },
        ],
      },
      { id: 'agent', kind: 'agent', userId: agents[0]!.userId, ringSeconds: 15, next: 'team' },
      { id: 'team', kind: 'group', name: 'Team', mode: 'simultaneous', members: [member(0), member(1)], ringSeconds: 20, next: 'vm' },
      { id: 'vm', kind: 'voicemail', text: 'Leave a message', next: null },
      { id: 'forward', kind: 'forward', phoneNumber: '+14155550111', next: null },
      { ...bye, message: 'Good bye' },
    );

  it('is greeted, chooses, rings, and ends as a voicemail that is logged once', async () => {
    const { id, phoneNumber } = await answering(flow());
    const from = nextCaller();
    const contact = await acme.contact({ phone: from });
    const told = await call(phoneNumber, { from, digits: ['9', '1'], twice: true });
    expect(told.log).toEqual([
      ...[{ play: 'https://example.com/hi.mp3?a=1&b=2' }, { say: 'Tom & <Jerry>' }, { say: 'Press one or two' }, { press: '9' }],
      ...[{ say: 'Press one or two' }, { press: '1' }],
      { dial: [agents[0]!.phone], seconds: 15, answered: null },
      { dial: agents.map(({ phone }) => phone), seconds: 20, answered: null },
      ...[{ say: 'Leave a message' }, { record: 120 }, { end: 'completed' }],
    ]);
    const entryOfLog = await logged(told.sid);
    expect(entryOfLog).toMatchObject({
      ...{ contactId: contact.id, direction: 'inbound', status: 'voicemail', source: 'call_flow', fromNumber: from, toNumber: phoneNumber },
      ...{ callFlowId: id, callFlowVersion: 1, userId: null, recordingUrl: expect.stringContaining('RE') },
    });
    expect(entryOfLog.duration).toBeGreaterThan(0);
    expect(dataOf(await acme.owner.get(`/call-flows/${id}`)).callsToday).toBe(1);
    expect(await api.app.database.prisma.liveCall.count({ where: { accountId: acme.id } })).toBe(0);
  });

  it('tells who answered, forwards, and says good bye to who presses nothing', async () => {
    const { phoneNumber } = await answering(flow());
    const answered = await call(phoneNumber, { digits: ['1'], answers: [agents[1]!.phone] });
    expect(await logged(answered.sid)).toMatchObject({ status: 'completed', userId: agents[1]!.userId });
    const alone = await call(phoneNumber, { digits: ['1'], answers: [agents[0]!.phone] });
    expect(dials(alone)).toEqual([[agents[0]!.phone]]);
    expect(await logged(alone.sid)).toMatchObject({ status: 'completed', userId: agents[0]!.userId });
    const forwarded = await call(phoneNumber, { digits: ['2'], answers: ['+14155550111'] });
    expect([dials(forwarded), (await logged(forwarded.sid)).status]).toEqual([[['+14155550111']], 'completed']);
    const silent = await call(phoneNumber);
    expect(heard(silent)).toEqual(['Tom & <Jerry>', 'Press one or two', 'Press one or two', 'Good bye']);
    expect(await logged(silent.sid)).toMatchObject({ status: 'missed', userId: null });
  });
});

const group = (fields: object) =>
  graph(
    entry('team'),
    { id: 'team', kind: 'group', mode: 'round_robin', members: [member(0), member(1)], ringSeconds: 10, next: 'bye', ...fields },
    bye,
  );

describe('a group', () => {
  it('takes turns, each call from the next one on, and a repeated request moves nothing', async () => {
    const { phoneNumber } = await answering(group({}));
    const first = [];
    for (let n = 0; n < 3; n++) {
      const told = await call(phoneNumber, { twice: true });
      expect(told.log.filter(({ differs }) => differs)).toEqual([]);
      first.push(dials(told).flat());
    }
    const [a, b] = agents.map(({ phone }) => phone);
    expect(first).toEqual([
      [a, b],
      [b, a],
      [a, b],
    ]);
  });

  it('gives each of many that call at one moment a turn of its own', async () => {
    const { id, phoneNumber } = await answering(group({}));
    const begin = (_: unknown, n: number) =>
      notice('/webhooks/twilio/voice', { CallSid: `CAmany${n}`, From: nextCaller(), To: phoneNumber });
    const replies = await Promise.all(Array.from({ length: 20 }, begin));
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const rung = replies.map(({ text }) => /<Number[^>]*>([^<]+)</.exec(text)![1]);
    for (const { phone } of agents) expect(rung.filter((one) => one === phone)).toHaveLength(10);
    const [pointer] = await api.app.database.prisma.callFlowPointer.findMany({ where: { accountId: acme.id, callFlowId: id } });
    expect(pointer!.position).toBe(19);
  });

  it('may have the longest id, or that of something that every object has', async () => {
    const long = '\u{1F4DE}'.repeat(200);
    const team = { kind: 'group', mode: 'round_robin', members: [member(0)], ringSeconds: 10 };
    const { phoneNumber } = await answering(
      graph(entry(long), { ...team, id: long, next: 'constructor' }, { ...team, id: 'constructor', next: 'bye' }, bye),
    );
    for (let n = 0; n < 2; n++) expect(dials(await call(phoneNumber, { twice: true }))).toHaveLength(2);
  });
});

const says = (message: string) => graph(entry('bye'), { ...bye, message });

describe('a flow', () => {
  it('keeps its version to the end of a call, and its number until it is unpublished', async () => {
    const menu = (next: object) =>
      graph(
        entry('menu'),
        { id: 'menu', kind: 'menu', options: [{ digit: '1', next: 'x' }], next: 'x' },
        { id: 'x', kind: 'hangup', ...next },
      );
    const flow = await answering(menu({ message: 'Old' }));
    const form = { CallSid: 'CApinned', From: nextCaller(), To: flow.phoneNumber, CallStatus: 'ringing' };
    const begun = await notice('/webhooks/twilio/voice', form);
    const [, action] = /action="([^"]+)"/.exec(begun.text)!;
    const draft = { draftGraph: menu({ message: 'New' }), expectedDraftRevision: 1 };
    const changed = dataOf(await publish(acme, dataOf(await acme.owner.patch(`/call-flows/${flow.id}`, draft))));
    const path = pathIn(action!);
    const go = () => notice(path, { ...form, Digits: '1' });
    expect([(await go()).text, (await go()).text]).toEqual(Array(2).fill(expect.stringContaining('<Say>Old</Say>')));
    expect(heard(await call(flow.phoneNumber))).toContain('New');
    dataOf(await acme.owner.post(`/call-flows/${changed.id}/unpublish`));
    expect((await go()).text).toContain('Old');
    expect((await notice('/webhooks/twilio/voice', { ...form, CallSid: 'CAnew' })).text).toContain('Nobody answers');
  });

  it('is told of by a live call while somebody calls, and reports in any order are written once', async () => {
    const flow = await answering(
      graph(entry('a'), { id: 'a', kind: 'agent', userId: agents[0]!.userId, ringSeconds: 10, next: 'bye' }, bye),
    );
    const form = { CallSid: 'CAlive', From: nextCaller(), To: flow.phoneNumber, CallStatus: 'ringing' };
    const begun = await notice('/webhooks/twilio/voice', form);
    const { data } = await acme.owner.gql('{ liveCalls { nodes { id status providerId callFlow { name } } } }');
    const [live] = (data as Loose).liveCalls.nodes;
    expect(live).toMatchObject({ status: 'ringing', providerId: 'CAlive', callFlow: { name: 'Front desk' } });
    const [, told] = /statusCallback="([^"]+)"/.exec(begun.text)!;
    const answered = pathIn(told!);
    const ended = { ...form, CallStatus: 'completed', CallDuration: '42' };
    await Promise.all([1, 2, 3].map(() => notice('/webhooks/twilio/voice/status', ended)));
    expect(await logged('CAlive')).toMatchObject({ status: 'missed', userId: null, duration: 42 });
    await notice(answered, { CallSid: 'CAchild', ParentCallSid: 'CAlive', CallStatus: 'in-progress' });
    await notice('/webhooks/twilio/voice/status', ended);
    expect((await notice('/webhooks/twilio/voice', form)).text).toContain('<Hangup');
    expect(await logged('CAlive')).toMatchObject({ status: 'completed', userId: agents[0]!.userId });
    const events = await api.app.database.prisma.outboxEvent.findMany({ where: { entityId: live.id }, orderBy: { seq: 'asc' } });
    expect(events.map(({ name }) => name)).toEqual(['live_call.created', 'live_call.deleted']);
    const caller = await api.app.database.prisma.contact.findFirst({ where: { accountId: acme.id, phone: form.From } });
    expect(caller).toMatchObject({ source: 'call', leadScore: 5 });
  });
});

describe('the voice endpoints', () => {
  it('passes over who is on the line', async () => {
    const own = await api.seed.account();
    const agent = await anAgent(own, '+14155550188');
    const flow = await answering(
      graph(entry('a'), { id: 'a', kind: 'agent', userId: agent.userId, ringSeconds: 10, next: 'bye' }, bye),
      own,
    );
    const form = { CallSid: 'CAbusy', From: nextCaller(), To: flow.phoneNumber, CallStatus: 'ringing' };
    const [, told] = /statusCallback="([^"]+)"/.exec((await notice('/webhooks/twilio/voice', form)).text)!;
    await notice(pathIn(told!), { ParentCallSid: 'CAbusy' });
    const presence = async () =>
      dataOf(await own.owner.get('/call-flows/roster')).data.find(({ userId }: Loose) => userId === agent.userId).presence;
    expect(await presence()).toBe('call');
    expect(dials(await call(flow.phoneNumber))).toEqual([]);
    // Nobody tells of its end: a day later it is over.
    api.clock.advance(25 * 60 * 60 * 1000);
    await sweep(api.app);
    expect(await presence()).toBe('on');
    expect(await logged('CAbusy', own)).toMatchObject({ status: 'completed', duration: null, endedAt: null });
  });

  it('writes texts that no XML can hold', async () => {
    const { phoneNumber } = await answering(says(']]>\u0001</Say><Dial>+1900</Dial>&"'));
    const told = await call(phoneNumber);
    expect([heard(told), dials(told)]).toEqual([[']]> </Say><Dial>+1900</Dial>&"'], []]);
  });

  it('answers nobody but the vendor', async () => {
    const { phoneNumber } = await answering(says('Hi'));
    const form = { CallSid: 'CAforged', From: nextCaller(), To: phoneNumber };
    for (const path of ['', '/status', `/${acme.id}/${acme.id}?do=wait&at=bye`, `/${acme.id}/${acme.id}/answered`])
      expectRefusal(await notice(`/webhooks/twilio/voice${path}`, form, 'c2lnbmVkIGJ5IG5vYm9keQ=='), 403);
    expect(await api.app.database.prisma.liveCall.count({ where: { providerId: 'CAforged' } })).toBe(0);
    for (const odd of ['?n=x', '?do=rang&at=nowhere&c=1&i=9', '?do=menu&at=bye'])
      expect((await notice(`/webhooks/twilio/voice/${acme.id}/${acme.id}${odd}`, form)).text).toContain('<Hangup');
    expect((await notice('/webhooks/twilio/voice', { ...form, To: '+19995550100' })).text).toContain('<Hangup');
  });

  it.each(['simultaneous', 'round_robin'])('is asked in two statements a turn, of a group that rings %s too', async (mode) => {
    const team = { id: 'team', kind: 'group', mode, members: [member(0)], ringSeconds: 10, next: 'menu' };
    const menu = { id: 'menu', kind: 'menu', options: [{ digit: '1', next: 'bye' }], next: 'bye' };
    const { phoneNumber } = await answering(
      graph(entry('team'), team, { ...menu, next: 'again' }, { ...team, id: 'again', next: 'bye' }, bye),
    );
    const from = nextCaller();
    let nth = 0;
    const begin = () => notice('/webhooks/twilio/voice', { CallSid: `CA${mode}${++nth}`, From: from, To: phoneNumber });
    expect(await api.statements(begin)).toBeLessThanOrEqual(2);
    const go = (path: string) => notice(path, { CallSid: `CA${mode}${nth}`, From: from, To: phoneNumber, DialCallStatus: 'no-answer' });
    const rung = async () => pathIn(/action="([^"]+)"/.exec((await begin()).text)![1]!);
    const there = await rung();
    expect((await go(there)).text).toContain('<Gather');
    expect(await api.statements(() => go(there))).toBeLessThanOrEqual(2);
    // Nothing is pressed until the menu gives up; the second group is chosen while the call goes on, once in a call: each run has its own.
    const last: string[] = [];
    while (last.length < 4) last.push(pathIn(/<Redirect[^>]*>([^<]+)</.exec((await go(await rung())).text)![1]!).replace(/k=0/, 'k=9'));
    expect(await api.statements(async () => expect((await go(last.pop()!)).text).toContain('<Dial'))).toBeLessThanOrEqual(2);
  });
});
