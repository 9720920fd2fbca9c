import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  aFlow,
  anAgent,
  bye,
  entry,
  graph,
  loggedCall,
  nextCaller,
  pathOf,
  publish,
  publishedOn,
  voiceNotice,
} from '../support/callFlows.js';
import { type Account, dataOf, day, type Loose, server, type TestServer } from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
let phoneNumber: string;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  phoneNumber = await freeNumber(acme);
  const mailbox = graph({ id: 'in', kind: 'entry', next: 'vm' }, { id: 'vm', kind: 'voicemail', next: null });
  dataOf(await publish(acme, await aFlow(acme, { phoneNumber, draftGraph: mailbox })));
  // Calls that began before the flow was published are not its.
  api.clock.advance(60 * 60 * 1000);
});
afterAll(() => api.close());

type Form = Record<string, string>;
type Report = 'begin' | 'recorded' | 'ended';

/** What the vendor reports of a call on which a message is left. */
const paths: Record<Report, () => string> = {
  begin: () => '/webhooks/twilio/voice',
  // The address of a call that the server does not know yet.
  recorded: () => `/webhooks/twilio/voice/${acme.id}/${acme.id}?n=1&do=recorded&at=vm`,
  ended: () => '/webhooks/twilio/voice/status',
};
const more: Record<Report, Form> = {
  begin: { CallStatus: 'ringing' },
  recorded: { CallStatus: 'in-progress', RecordingUrl: 'https://api.twilio.com/recordings/RE1' },
  ended: { CallStatus: 'completed', CallDuration: '42' },
};

const liveCalls = async (): Promise<Loose[]> => {
  const { data } = await acme.owner.gql('{ liveCalls { nodes { providerId status recordingUrl } } }');
  return (data as Loose).liveCalls.nodes;
};

describe('a call that goes on with a contact who was merged away', () => {
  it('is logged with the one who is kept at last', async () => {
    const from = nextCaller();
    const [first, second, last] = [await acme.contact({ phone: from }), await acme.contact(), await acme.contact()];
    const form = { CallSid: 'CAmergedAway', From: from, To: phoneNumber };
    await voiceNotice(api, paths.begin(), { ...form, ...more.begin });
    const merge = async (primary: Loose, secondary: Loose) =>
      dataOf(await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: secondary.id }));
    await merge(second, first);
    await merge(last, second);
    // As a server kept it that wrote the call while the first of them went.
    await api.app.database.prisma.liveCall.updateMany({ where: { providerId: form.CallSid }, data: { contactId: first.id } });
    await voiceNotice(api, paths.ended(), { ...form, ...more.ended });
    expect((await loggedCall(api, acme, form.CallSid)).contactId).toBe(last.id);
  });
});

describe('a message that is left', () => {
  const orders: Report[][] = [
    ['begin', 'recorded', 'ended'],
    ['begin', 'ended', 'recorded'],
    ['recorded', 'begin', 'ended'],
    ['recorded', 'ended', 'begin'],
    ['ended', 'recorded', 'begin'],
  ];

  it.each(orders)('is in the log, reported as %s, %s, %s, each of them twice', async (...order) => {
    const sid = `CA${order.join('-')}`;
    const form = { CallSid: sid, From: nextCaller(), To: phoneNumber };
    for (const report of order) {
      for (let time = 0; time < 2; time++) expect((await voiceNotice(api, paths[report](), { ...form, ...more[report] })).status).toBe(200);
    }
    expect(await liveCalls()).toEqual([]);
    expect(await loggedCall(api, acme, sid)).toMatchObject({
      ...{ status: 'voicemail', duration: 42, recordingUrl: more.recorded.RecordingUrl, fromNumber: form.From, toNumber: phoneNumber },
      ...{ contactId: expect.any(String), callFlowVersion: 1 },
    });
    expect(await api.app.database.prisma.call.count({ where: { providerId: sid } })).toBe(1);
  });

  it('is that of a call that goes on, whose beginning is told later and answered as ever', async () => {
    const form = { CallSid: 'CAearly', From: nextCaller(), To: phoneNumber };
    await voiceNotice(api, paths.recorded(), { ...form, ...more.recorded });
    expect(await liveCalls()).toEqual([{ providerId: 'CAearly', status: 'voicemail', recordingUrl: more.recorded.RecordingUrl }]);
    const begun = await voiceNotice(api, paths.begin(), { ...form, ...more.begin });
    const [, action] = /<Record[^>]* action="([^"]+)"/.exec(begun.text)!;
    expect((await voiceNotice(api, pathOf(api, action!), { ...form, ...more.recorded })).text).toContain('<Hangup');
    await voiceNotice(api, paths.ended(), { ...form, ...more.ended });
    expect(await loggedCall(api, acme, 'CAearly')).toMatchObject({ status: 'voicemail', recordingUrl: more.recorded.RecordingUrl });
  });

  it('is one, whichever of its reports come at one moment', async () => {
    const sids = Array.from({ length: 20 }, (_, n) => `CAatonce${n}`);
    const reports = sids.flatMap((sid) => {
      const form = { CallSid: sid, From: nextCaller(), To: phoneNumber };
      return (['recorded', 'ended', 'begin'] as const).map((report) => voiceNotice(api, paths[report](), { ...form, ...more[report] }));
    });
    expect((await Promise.all(reports)).map(({ status }) => status)).toEqual(reports.map(() => 200));
    for (const sid of sids) {
      expect(await loggedCall(api, acme, sid)).toMatchObject({ status: 'voicemail', recordingUrl: more.recorded.RecordingUrl });
    }
    expect(await liveCalls()).toEqual([]);
  });

  it('is nothing on a number that no flow answers', async () => {
    const form = { CallSid: 'CAnobody', From: nextCaller(), To: await freeNumber(acme) };
    expect((await voiceNotice(api, paths.recorded(), { ...form, ...more.recorded })).status).toBe(200);
    expect(await liveCalls()).toEqual([]);
  });
});

const presenceOf = async (of: string) =>
  dataOf(await acme.owner.get('/call-flows/roster')).data.find(({ userId }: Loose) => userId === of).presence;

describe('a call of whose end nothing is heard', () => {
  it('leaves who answered it free once they have hung up', async () => {
    const number = await freeNumber(acme);
    const { userId, phone } = await anAgent(acme, '+14155550173');
    await publishedOn(number, graph(entry('a'), { id: 'a', kind: 'agent', userId, ringSeconds: 10, next: 'bye' }, bye), acme);
    const call = (sid: string) => ({ CallSid: sid, From: nextCaller(), To: number });
    const form = call('CAunended');
    const begun = await voiceNotice(api, paths.begin(), { ...form, ...more.begin });
    const [, answered] = /statusCallback="([^"]+)"/.exec(begun.text)!;
    const [, rang] = /<Dial[^>]* action="([^"]+)"/.exec(begun.text)!;
    await voiceNotice(api, pathOf(api, answered!), { ParentCallSid: form.CallSid });
    expect(await presenceOf(userId)).toBe('call');
    const over = { ...form, CallStatus: 'in-progress', DialCallStatus: 'completed' };
    expect((await voiceNotice(api, pathOf(api, rang!), over)).text).toContain('<Hangup');
    expect(await presenceOf(userId)).toBe('on');
    // Told again, and late.
    await voiceNotice(api, pathOf(api, rang!), over);
    await voiceNotice(api, pathOf(api, answered!), { ParentCallSid: form.CallSid });
    expect(await presenceOf(userId)).toBe('on');
    const { data } = await acme.owner.gql('{ liveCalls { nodes { providerId userId lineFreeAt } } }');
    expect((data as Loose).liveCalls.nodes).toEqual([{ providerId: 'CAunended', userId, lineFreeAt: expect.any(String) }]);
    const next = call('CAnext');
    expect((await voiceNotice(api, paths.begin(), { ...next, ...more.begin })).text).toContain(phone);
    for (const one of [form, next]) await voiceNotice(api, paths.ended(), { ...one, ...more.ended });
    expect(await loggedCall(api, acme, form.CallSid)).toMatchObject({ status: 'completed', duration: 42, userId });
  });
});

describe('a caller who hangs up while somebody rings', () => {
  it('takes no turn of the group that comes next', async () => {
    const number = await freeNumber(acme);
    const agents = [await anAgent(acme, '+14155550174'), await anAgent(acme, '+14155550175')];
    const [first, second] = agents.map(({ phone }) => phone);
    const members = agents.map(({ userId }) => ({ userId }));
    const ring = { id: 'a', kind: 'agent', userId: agents[0]!.userId, ringSeconds: 10, next: 'team' };
    const team = { id: 'team', kind: 'group', mode: 'round_robin', members, ringSeconds: 10, next: 'bye' };
    await publishedOn(number, graph(entry('a'), ring, team, bye), acme);
    const unanswered = async (sid: string, status: string) => {
      const form = { CallSid: sid, From: nextCaller(), To: number };
      const begun = await voiceNotice(api, paths.begin(), { ...form, ...more.begin });
      const [, rang] = /<Dial[^>]* action="([^"]+)"/.exec(begun.text)!;
      const { text } = await voiceNotice(api, pathOf(api, rang!), { ...form, CallStatus: status, DialCallStatus: 'no-answer' });
      await voiceNotice(api, paths.ended(), { ...form, ...more.ended });
      return text;
    };
    expect(await unanswered('CAstays1', 'in-progress')).toContain(`${first}</Number>`);
    const gone = await unanswered('CAhungUp', 'completed');
    expect(gone).toContain('<Hangup');
    expect(gone).not.toContain('<Dial');
    expect(await unanswered('CAstays2', 'in-progress')).toContain(`${second}</Number>`);
    expect((await loggedCall(api, acme, 'CAhungUp')).status).toBe('missed');
  });
});

describe('a call whose number is given up while it goes on', () => {
  /** Somebody who is on the line of a call to a number that the workspace has no more, and what the vendor tells of the call at its end. */
  async function talking(sid: string, phone: string) {
    const number = await freeNumber(acme);
    const agent = await anAgent(acme, phone);
    const ring = { id: 'a', kind: 'agent', userId: agent.userId, ringSeconds: 10, next: 'bye' };
    const flow = await publishedOn(number, graph(entry('a'), ring, bye), acme);
    const form = { CallSid: sid, From: nextCaller(), To: number };
    const begun = await voiceNotice(api, paths.begin(), { ...form, ...more.begin });
    const [, told] = /statusCallback="([^"]+)"/.exec(begun.text)!;
    await voiceNotice(api, pathOf(api, told!), { ParentCallSid: sid });
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    const { id } = await api.app.database.prisma.phoneNumber.findFirstOrThrow({ where: { accountId: acme.id, number } });
    dataOf(await acme.owner.del(`/settings/numbers/${id}`));
    return { ...agent, flow, number, ended: { ...form, ...more.ended } };
  }

  it('ends as any other: it is in the log, and who answered takes calls again', async () => {
    const { userId, flow, ended } = await talking('CAgivenUp', '+14155550171');
    expect(await presenceOf(userId)).toBe('call');
    await voiceNotice(api, paths.ended(), ended);
    expect(await liveCalls()).toEqual([]);
    expect(await loggedCall(api, acme, ended.CallSid)).toMatchObject({ status: 'completed', duration: 42, userId, callFlowId: flow.id });
    expect(await presenceOf(userId)).toBe('on');
  });

  it('is nothing to the workspace whose flow answers the number by then', async () => {
    const other = await api.seed.account();
    const { userId, number, ended } = await talking('CAofBefore', '+14155550172');
    dataOf(await publish(other, await aFlow(other, { phoneNumber: number })));
    // It would be the other's by the moment at which it ends. Told twice: after the first time it goes on nowhere.
    for (let time = 0; time < 2; time++) {
      expect((await voiceNotice(api, paths.ended(), { ...ended, CallDuration: '0' })).status).toBe(200);
    }
    const { prisma } = api.app.database;
    expect(await prisma.call.count({ where: { accountId: other.id } })).toBe(0);
    expect(await prisma.contact.count({ where: { accountId: other.id, phone: ended.From } })).toBe(0);
    expect(await liveCalls()).toEqual([]);
    expect(await prisma.call.count({ where: { providerId: ended.CallSid } })).toBe(1);
    expect(await loggedCall(api, acme, ended.CallSid)).toMatchObject({ status: 'completed', duration: 0, userId });
  });
});

describe('a call of which the end alone is told', () => {
  const ended = (number: string, sid: string) => ({ CallSid: sid, From: nextCaller(), To: number, ...more.ended, CallDuration: '3600' });
  const again = async ({ id }: Loose) => dataOf(await publish(acme, dataOf(await acme.owner.get(`/call-flows/${id}`))));
  const kept = async ({ CallSid: providerId, From: phone }: Form) => {
    const { prisma } = api.app.database;
    const at = { accountId: acme.id };
    return [await prisma.call.count({ where: { ...at, providerId } }), await prisma.contact.count({ where: { ...at, phone } })];
  };

  it("is not a flow's that was not published when it began, whatever was published before", async () => {
    const number = await freeNumber(acme);
    const flow = await publishedOn(number, graph(entry('bye'), bye), acme);
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    api.clock.advance(day);
    await again(flow);
    const form = ended(number, 'CAofThePbx');
    await voiceNotice(api, paths.ended(), form);
    expect(await kept(form)).toEqual([0, 0]);
  });

  it("is the flow's where that was published anew meanwhile, and was published all along", async () => {
    const number = await freeNumber(acme);
    const flow = await publishedOn(number, graph(entry('bye'), bye), acme);
    api.clock.advance(day);
    expect((await again(flow)).publishedVersion).toBe(2);
    const form = ended(number, 'CAmeanwhile');
    await voiceNotice(api, paths.ended(), form);
    expect(await kept(form)).toEqual([1, 1]);
  });
});
