import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freeNumber } from '../contract/samples.talk.js';
import { nextCaller, placeCall, publishedOn, through } from '../support/callFlows.js';
import { type Account, dataOf, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
let socket: Socket;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
  socket = await Socket.open(api.wire.port, { init: bearer(key) });
});
afterAll(async () => {
  socket.cut();
  await api.close();
});

/** The first event that a typed subscription brings of all that are kept. */
async function first(document: string, variables: object): Promise<Loose> {
  const [event] = await socket.run(document, variables).nth(1);
  return event;
}

describe('typed events are chosen by what their records lead to', () => {
  it('calls by the flow that answers, while they last and afterwards, and by who calls', async () => {
    const greeting = through({ kind: 'greeting', text: 'Hello' });
    const [before, flow] = [
      await publishedOn(await freeNumber(acme), greeting, acme),
      await publishedOn(await freeNumber(acme), greeting, acme),
    ];
    await placeCall(api, before.phoneNumber);
    const from = nextCaller();
    const { id: contact } = await acme.contact({ firstName: 'Ada', phone: from });
    await placeCall(api, flow.phoneNumber, { from });

    const live = `subscription ($contact: ID, $flow: ID) { liveCallEvents(contactId: $contact, callFlowId: $flow, after: "0") { name entityId } }`;
    const all = socket.run(live);
    const begun = () => all.events.filter(({ name }) => name === 'live_call.created').map(({ entityId }) => entityId);
    await eventually(() => begun().length === 2);
    expect((await first(live, { contact })).entityId).toBe(begun()[1]);
    expect((await first(live, { flow: flow.id })).entityId).toBe(begun()[1]);
    const ended = 'subscription ($flow: ID) { callEvents(callFlowId: $flow, after: "0") { name call { callFlowId contactId } } }';
    expect(await first(ended, { flow: flow.id })).toEqual({ name: 'call.created', call: { callFlowId: flow.id, contactId: contact } });
  });

  it('messages by who sends them, and by the enrollment that they are steps of', async () => {
    const member = await acme.member();
    const { id: contactId } = await acme.contact();
    const message = { contactId, channel: 'email', direction: 'outbound', subject: 'Hello', body: 'Hello' };
    dataOf(await acme.owner.post('/messages', message));
    const { id } = dataOf(await member.post('/messages', message));
    const sequences = new Sequences(acme, key);
    const before = await sequences.begin([aStep(0)]);
    await sequences.sent(before, 1);
    const enrollment = await sequences.begin([aStep(0)]);
    const [mail] = await sequences.sent(enrollment, 1);

    const told = `subscription ($user: ID, $enrollment: ID) { messageEvents(userId: $user, enrollmentId: $enrollment, after: "0") { entityId } }`;
    expect((await first(told, { user: member.userId })).entityId).toBe(id);
    expect((await first(told, { enrollment })).entityId).toBe(mail!.id);
  });

  it('and enrollments are listed by their sequence', async () => {
    const sequences = new Sequences(acme, key);
    const [sequence, other] = [await sequences.make([aStep(1)]), await sequences.make([aStep(1)])];
    const { id: contactId } = await sequences.reader();
    const [own] = await sequences.enroll(sequence, contactId);
    await sequences.enroll(other, contactId);
    const list =
      'query ($sequence: ID, $contact: ID) { enrollments(filter: { sequenceId: $sequence, contactId: $contact }) { nodes { id } } }';
    const { data, errors } = await key.gql(list, { sequence, contact: contactId });
    expect(errors).toBeUndefined();
    expect(data.enrollments.nodes).toEqual([{ id: own }]);
  });
});
