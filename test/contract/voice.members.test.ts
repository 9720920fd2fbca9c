import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, bye, dials, entry, graph, loggedCall, placeCall, publish, publishedOn } from '../support/callFlows.js';
import { type Account, dataOf, type Loose, password, server, type TestServer } from '../support/index.js';
import { tokenMailed } from '../support/mail.js';
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
const call = (to: string, placed?: { digits: string[] }) => placeCall(api, to, placed);
const member = (nth: number, weight?: number) => ({ userId: agents[nth]!.userId, ...(weight !== undefined && { weight }) });
const group = (fields: object) =>
  graph(
    entry('team'),
    { id: 'team', kind: 'group', mode: 'round_robin', members: [member(0), member(1)], ringSeconds: 10, next: 'bye', ...fields },
    bye,
  );

/** So many agents whose numbers begin alike, one after the other: logins at the same moment wait for each other, and not for ever. */
async function someAgents(count: number, prefix: string, presence?: string) {
  const made: Awaited<ReturnType<typeof anAgent>>[] = [];
  for (let n = 0; n < count; n++) made.push(await anAgent(acme, `${prefix}${String(n).padStart(2, '0')}`, presence));
  return made;
}

describe('who of a group is rung', () => {
  it('rings by weight with the randomness of the server, and passes over who is off', async () => {
    const off = await anAgent(acme, '+14155550163', 'off');
    const members = [{ userId: off.userId, weight: 0 }, member(0, 0), member(1, 100)];
    const { phoneNumber } = await answering(group({ mode: 'weighted', members }));
    expect(dials(await call(phoneNumber))[0]).toEqual([agents[1]!.phone]);
    expect(dials(await call(phoneNumber)).flat()).not.toContain('+14155550163');
  });

  it('finds those who take calls among many who do not, however small their share', async () => {
    const off = await someAgents(60, '+141555503', 'off');
    const members = [...off.map(({ userId }) => ({ userId, weight: 1.5 })), member(0, 10)];
    const { id, phoneNumber } = await answering(group({ mode: 'weighted', members }));
    for (let n = 0; n < 5; n++) expect(dials(await call(phoneNumber))).toEqual([[agents[0]!.phone]]);
    const { ringOrder } = dataOf(await acme.owner.post(`/call-flows/${id}/simulate`, {}));
    expect(ringOrder.map(({ rings }: Loose) => rings)).toEqual([true, ...off.map(() => false)]);
  });

  it('rings nobody whose phone is the number of the flow: the call would come in again', async () => {
    const own = await api.seed.account();
    const agent = await anAgent(own, '+14155550189');
    const draftGraph = graph(entry('a'), { id: 'a', kind: 'agent', userId: agent.userId, ringSeconds: 10, next: 'bye' }, bye);
    const { id, phoneNumber } = await answering(draftGraph, own);
    dataOf(await agent.member.put('/call-flows/presence', { phone: phoneNumber }));
    expect(dials(await call(phoneNumber))).toEqual([]);
    expect(dataOf(await own.owner.post(`/call-flows/${id}/simulate`, {})).ringOrder).toMatchObject([{ rings: false, did: null }]);
    const again = await publish(own, dataOf(await own.owner.get(`/call-flows/${id}`)));
    expect([again.status, again.body.code]).toEqual([422, 'member_no_phone']);
  });

  it('rings at most ten at once', async () => {
    const many = await someAgents(12, '+141555502');
    const { phoneNumber } = await answering(group({ mode: 'simultaneous', members: many.map(({ userId }) => ({ userId })) }));
    expect(dials(await call(phoneNumber)).map((rung) => rung.length)).toEqual([10, 2]);
  });

  it('holds the caller, rings again, and lets them leave a message', async () => {
    const queue = { holdSeconds: 40, repeatRing: true, pressOneVoicemail: true };
    const { phoneNumber } = await answering(group({ members: [member(0)], queue }));
    const held = await call(phoneNumber);
    // 5 seconds of waiting and 10 of ringing a round.
    expect(dials(held)).toHaveLength(4);
    const left = await call(phoneNumber, { digits: ['1'] });
    expect([dials(left).length, (await loggedCall(api, acme, left.sid)).status]).toEqual([1, 'voicemail']);
    const patient = await answering(group({ members: [member(0)], queue: { holdSeconds: 45 } }));
    expect((await call(patient.phoneNumber)).log.flatMap(({ pause }) => (pause ? [pause] : []))).toEqual(['30', '15']);
  });
});

describe('who was removed and is invited again', () => {
  it('is rung once they say that they take calls, and not before', async () => {
    const own = await api.seed.account();
    const { userId, phone, member } = await anAgent(own, '+14155550190');
    const draftGraph = graph(entry('a'), { id: 'a', kind: 'agent', userId, ringSeconds: 10, next: 'bye' }, bye);
    const { phoneNumber } = await answering(draftGraph, own);
    dataOf(await own.owner.del(`/users/${userId}`));
    dataOf(await own.owner.post('/users/invite', { email: member.email }));
    const back = api.anybody();
    const token = await tokenMailed(api, member.email, 'accept-invite');
    dataOf(await back.post('/auth/accept-invite', { token, password }));
    const { data } = dataOf(await own.owner.get('/call-flows/roster'));
    expect(data.find((listed: Loose) => listed.userId === userId)).toMatchObject({ did: phone, presence: 'off' });
    expect(dials(await call(phoneNumber))).toEqual([]);
    dataOf(await back.put('/call-flows/presence', { presence: 'on' }));
    expect(dials(await call(phoneNumber))).toEqual([[phone]]);
  });
});
