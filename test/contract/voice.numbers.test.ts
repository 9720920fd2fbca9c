import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anAgent, entry, graph, nextCaller, pathOf, publishedOn, voiceNotice } from '../support/callFlows.js';
import { type Account, server, type TestServer } from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
let agents: { userId: string; phone: string }[];
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  agents = [await anAgent(acme, '+14155550161'), await anAgent(acme, '+14155550162')];
});
afterAll(() => api.close());

let calls = 0;

/** A call that begins: what the vendor tells of it, and what it is answered. */
async function begun(to: string, from = nextCaller()) {
  const form = { CallSid: `CAnumber${++calls}`, From: from, To: to };
  const { status, text } = await voiceNotice(api, '/webhooks/twilio/voice', form);
  expect(status).toBe(200);
  return { form, text };
}

/** What is answered once nobody of those who are rung has taken the call. */
async function unanswered({ form, text }: Awaited<ReturnType<typeof begun>>): Promise<string> {
  const [, action] = /<Dial[^>]* action="([^"]+)"/.exec(text)!;
  return (await voiceNotice(api, pathOf(api, action!), { ...form, CallStatus: 'in-progress', DialCallStatus: 'no-answer' })).text;
}

const ring = (userId: string, next: string) => ({ id: 'a', kind: 'agent', userId, ringSeconds: 10, next });
const forward = (phoneNumber: string) => ({ id: 'on', kind: 'forward', phoneNumber, next: null });
/** The number that whoever is rung sees; undefined where that is the caller's. */
const shown = (text: string) => /<Dial[^>]* callerId="([^"]+)"/.exec(text)?.[1];

describe('a caller who is rung through', () => {
  /** What an agent, both members of a group and whoever it is forwarded to see of a call, in this order. */
  async function seen(from?: string) {
    const to = await freeNumber(acme);
    const members = agents.map(({ userId }) => ({ userId }));
    const team = { id: 'team', kind: 'group', mode: 'round_robin', members, ringSeconds: 10, next: 'on' };
    await publishedOn(to, graph(entry('a'), ring(agents[0]!.userId, 'team'), team, forward('+14155550111')), acme);
    let answer = await begun(to, from);
    const texts = [answer.text];
    while (texts.length < 4) {
      answer = { ...answer, text: await unanswered(answer) };
      texts.push(answer.text);
    }
    for (const text of texts) expect(text).toContain('<Dial');
    return { to, callerIds: texts.map(shown) };
  }

  it.each(['+266696687', 'anonymous', 'Restricted'])('as %s is shown as the number called', async (from) => {
    const { to, callerIds } = await seen(from);
    expect(callerIds).toEqual([to, to, to, to]);
  });

  it('is shown by the number that calls', async () => {
    expect((await seen()).callerIds).toEqual(Array(4).fill(undefined));
  });
});
