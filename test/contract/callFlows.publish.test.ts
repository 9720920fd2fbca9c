import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v4 } from 'uuid';
import { aFlow, bye, entry, graph, publish, simulatorOf } from '../support/callFlows.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { expectPublished } from './published.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const patch = (id: string, body: object) => acme.owner.patch(`/call-flows/${id}`, body);

describe('POST /call-flows/{id}/publish', () => {
  it('needs the moment that was seen: 428, then 409, then 422', async () => {
    const flow = await aFlow(acme, { draftGraph: graph(entry(null)) });
    expectRefusal(await acme.owner.post(`/call-flows/${flow.id}/publish`, {}), 428);
    expectRefusal(await acme.owner.post(`/call-flows/${flow.id}/publish`, { expectedUpdatedAt: '2020-01-01T00:00:00Z' }), 409);
    expectRefusal(await publish(acme, flow), 422);
    expectRefusal(await acme.owner.post(`/call-flows/${v4()}/publish`, {}), 404);
  });

  it('snapshots the draft, has the vendor ask us, locks the number, and gives it back when it is unpublished', async () => {
    const phoneNumber = await freeNumber(acme);
    simulatorOf(api).numbers.find(phoneNumber)!.voice_url = 'https://pbx.example.com/voice';
    const flow = await aFlow(acme, { phoneNumber });
    const published = dataOf(await publish(acme, flow));
    const { wiring } = published;
    expect(wiring).toEqual({
      wired: true,
      inboundUrl: `${api.app.config.publicUrl}/webhooks/twilio/voice`,
      voiceUrl: wiring.inboundUrl,
      error: null,
    });
    expect(published).toMatchObject({ publishedVersion: 1, publishedGraph: flow.draftGraph });
    expect(dataOf(await acme.owner.get(`/call-flows/${flow.id}/wiring`))).toEqual(wiring);
    const [number] = dataOf(await acme.owner.get(`/call-flows/numbers?number=${encodeURIComponent(phoneNumber)}`)).data;
    expect(number).toMatchObject({ claimedBy: { type: 'call_flow', id: flow.id, name: 'Front desk' }, wired: true });
    expectRefusal(await patch(flow.id, { phoneNumber: null }), 409);
    expect(dataOf(await publish(acme, dataOf(await acme.owner.get(`/call-flows/${flow.id}`)))).publishedVersion).toBe(2);

    expect(dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`))).toMatchObject({
      publishedGraph: null,
      publishedVersion: null,
    });
    expect(simulatorOf(api).numbers.find(phoneNumber)!.voice_url).toBe('https://pbx.example.com/voice');
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }), 404);
  });

  it('publishes although the vendor does not take the wiring, and says why', async () => {
    const phoneNumber = await freeNumber(acme);
    dataOf(await acme.owner.post('/settings/numbers', { number: phoneNumber }));
    const flow = await aFlow(acme, { phoneNumber });
    simulatorOf(api).numbers.fail(3);
    const { wiring, publishedVersion } = dataOf(await publish(acme, flow));
    expect([wiring.wired, publishedVersion]).toEqual([false, 1]);
    expect(wiring.error).toMatch(/simulator/);
    simulatorOf(api).numbers.fail(3);
    expectRefusal(await acme.owner.post(`/call-flows/${flow.id}/wiring`), 502);
    simulatorOf(api).numbers.fail(1);
    const silent = await acme.owner.get('/call-flows/numbers');
    expectRefusal(silent, 502);
    expectPublished('GET /call-flows/numbers', silent);
    simulatorOf(api).numbers.fail(0);
    expect(dataOf(await acme.owner.post(`/call-flows/${flow.id}/wiring`)).wired).toBe(true);
  });
});

describe('CallFlow.versions', () => {
  it('are what was published, the latest first, each with its graph and who published it', async () => {
    const flow = await aFlow(acme, { phoneNumber: await freeNumber(acme) });
    const first = dataOf(await publish(acme, flow));
    const later = graph(entry('bye'), bye);
    const drafted = dataOf(await patch(flow.id, { draftGraph: later, expectedDraftRevision: 1 }));
    dataOf(await publish(acme, drafted));
    const text = `{ callFlow(id: "${flow.id}") { versions(first: 5) { totalCount nodes { version graph phoneNumber publisher { id } } } } }`;
    const { data } = await acme.owner.gql(text);
    const published = { phoneNumber: flow.phoneNumber, publisher: { id: acme.ownerId } };
    expect((data as Loose).callFlow.versions).toEqual({
      totalCount: 2,
      nodes: [
        { version: 2, graph: later, ...published },
        { version: 1, graph: first.publishedGraph, ...published },
      ],
    });
  });
});

describe('a number that a flow leaves or cannot have', () => {
  it('leaves a tombstone where the number cannot be given back, until it is released', async () => {
    const phoneNumber = await freeNumber(acme);
    const flow = await aFlow(acme, { phoneNumber });
    dataOf(await publish(acme, flow));
    simulatorOf(api).numbers.fail(1);
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    const release = () => acme.owner.post('/call-flows/tombstones/release', { phoneNumber });
    simulatorOf(api).numbers.fail(1);
    expectRefusal(await release(), 502);
    expect(dataOf(await release())).toEqual({ phoneNumber, released: true, voiceUrl: null });
    expectRefusal(await release(), 404);
  });

  it('does not give back what it knows nothing of', async () => {
    const phoneNumber = await freeNumber(acme);
    Object.assign(simulatorOf(api).numbers.find(phoneNumber)!, { voice_url: `${api.app.config.publicUrl}/webhooks/twilio/voice` });
    const flow = await aFlow(acme, { phoneNumber });
    dataOf(await publish(acme, flow));
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }), 409);
  });
});

describe('a number that is given back', () => {
  const giveBack = async (phoneNumber: string) => {
    const { id } = await api.app.database.prisma.phoneNumber.findFirstOrThrow({ where: { number: phoneNumber, accountId: acme.id } });
    return acme.owner.del(`/settings/numbers/${id}`);
  };

  it('is given back neither by who has it no more nor to anybody else, and not before it is routed as it was', async () => {
    const phoneNumber = await freeNumber(acme);
    const routed = simulatorOf(api).numbers.find(phoneNumber)!;
    routed.voice_url = 'https://pbx.example.com/voice';
    const flow = await aFlow(acme, { phoneNumber });
    dataOf(await publish(acme, flow));
    simulatorOf(api).numbers.fail(1);
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    expectRefusal(await giveBack(phoneNumber), 409);

    // As a server did that let such a number go.
    const other = await api.seed.account();
    await api.app.database.prisma.phoneNumber.deleteMany({ where: { number: phoneNumber } });
    dataOf(await publish(other, await aFlow(other, { phoneNumber })));
    const ours = routed.voice_url;
    for (let n = 0; n < 2; n++) expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }), 404);
    expect(routed.voice_url).toBe(ours);
  });

  it('may go where nothing is known of what handled it before, and nothing is to be given back then', async () => {
    const phoneNumber = await freeNumber(acme);
    Object.assign(simulatorOf(api).numbers.find(phoneNumber)!, { voice_url: `${api.app.config.publicUrl}/webhooks/twilio/voice` });
    const flow = await aFlow(acme, { phoneNumber });
    dataOf(await publish(acme, flow));
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    dataOf(await giveBack(phoneNumber));
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }), 404);
  });
});

describe('a number of another workspace', () => {
  it('tells nothing of how a number of another workspace is routed', async () => {
    const other = await api.seed.account();
    const phoneNumber = await freeNumber(other);
    simulatorOf(api).numbers.find(phoneNumber)!.voice_url = 'https://user:secret@pbx.example.com';
    dataOf(await other.owner.post('/settings/numbers', { number: phoneNumber }));
    const [drafted, theirs] = [await aFlow(acme, { phoneNumber }), await aFlow(other, { phoneNumber })];
    const wiring = async (account: Account, { id }: Loose) => dataOf(await account.owner.get(`/call-flows/${id}/wiring`));
    const nothing = { wired: false, voiceUrl: null, error: 'The number is no number of the workspace' };
    expect(await wiring(acme, drafted)).toMatchObject(nothing);
    expect(await wiring(other, theirs)).toMatchObject({ wired: false, voiceUrl: 'https://user:secret@pbx.example.com' });
    dataOf(await publish(other, theirs));
    expect(await wiring(acme, drafted)).toMatchObject(nothing);
    const { data } = await acme.owner.gql(`{ callFlowWiring(id: "${drafted.id}") { wired voiceUrl error } }`);
    expect((data as Loose).callFlowWiring).toEqual(nothing);
  });

  it('names no other workspace whose the number is', async () => {
    const other = await api.seed.account();
    const phoneNumber = await freeNumber(other);
    dataOf(await publish(other, await aFlow(other, { phoneNumber })));
    const refused = await publish(acme, await aFlow(acme, { phoneNumber }));
    expectRefusal(refused, 422);
    expect(refused.body.code).toBe('number_missing');
    for (const secret of [other.id, 'Front desk']) expect(refused.text).not.toContain(secret);
  });

  it('refuses forwards that lead back, over however many flows', async () => {
    const [one, two] = [await freeNumber(acme), await freeNumber(acme)];
    const forward = (phoneNumber: string) => graph(entry('x'), { id: 'x', kind: 'forward', phoneNumber });
    const straight = await publish(acme, await aFlow(acme, { phoneNumber: await freeNumber(acme), draftGraph: forward(one) }));
    expect(straight.status).toBe(200);
    dataOf(await publish(acme, await aFlow(acme, { phoneNumber: one, draftGraph: forward(two) })));
    const refused = await publish(acme, await aFlow(acme, { phoneNumber: two, draftGraph: forward(one) }));
    expect([refused.status, refused.body.code]).toEqual([422, 'bad_forward_number']);
  });
});

describe('a number while the vendor is asked', () => {
  it('comes to the service where its flow is published again while it is given back', async () => {
    const phoneNumber = await freeNumber(acme);
    const routed = simulatorOf(api).numbers.find(phoneNumber)!;
    routed.voice_url = 'https://pbx.example.com/voice';
    const flow = await aFlow(acme, { phoneNumber });
    const { wiring } = dataOf(await publish(acme, flow));
    const again = async () => dataOf(await publish(acme, dataOf(await acme.owner.get(`/call-flows/${flow.id}`))));
    simulatorOf(api).numbers.beforeRouting(again);
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    expect(routed.voice_url).toBe(wiring.inboundUrl);
    expect(dataOf(await acme.owner.get(`/call-flows/${flow.id}`)).publishedVersion).toBe(2);
    // How it was routed before is known still.
    dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`));
    expect(routed.voice_url).toBe('https://pbx.example.com/voice');
  });

  it('is given back where its flow is unpublished while it is wired', async () => {
    const phoneNumber = await freeNumber(acme);
    const routed = simulatorOf(api).numbers.find(phoneNumber)!;
    routed.voice_url = 'https://pbx.example.com/voice';
    const flow = await aFlow(acme, { phoneNumber });
    simulatorOf(api).numbers.beforeRouting(async () => dataOf(await acme.owner.post(`/call-flows/${flow.id}/unpublish`)));
    expect(dataOf(await publish(acme, flow)).wiring).toMatchObject({ wired: false, error: 'The flow was unpublished meanwhile' });
    expect(routed.voice_url).toBe('https://pbx.example.com/voice');
    expectRefusal(await acme.owner.post('/call-flows/tombstones/release', { phoneNumber }), 404);
  });

  it('is not released while a flow is published on it', async () => {
    for (let n = 0; n < 5; n++) {
      const number = await freeNumber(acme);
      const { id } = dataOf(await acme.owner.post('/settings/numbers', { number }));
      const flow = await aFlow(acme, { phoneNumber: number });
      const [published, released] = await Promise.all([publish(acme, flow), acme.owner.del(`/settings/numbers/${id}`)]);
      expect(published.status).toBe(200);
      expect([200, 409]).toContain(released.status);
      expect(await api.app.database.prisma.phoneNumber.count({ where: { number, accountId: acme.id } })).toBe(1);
    }
  });
});

describe('a flow that many publish', () => {
  it('lets one of fifty win', async () => {
    const flow = await aFlow(acme, { phoneNumber: await freeNumber(acme) });
    const statuses = (await Promise.all(Array.from({ length: 50 }, () => publish(acme, flow)))).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(49).fill(409)]);
  });
});
