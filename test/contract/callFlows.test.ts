import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aFlow, bye, createFlow, entry, graph, through } from '../support/callFlows.js';
import { type Account, dataOf, day, expectNothingWritten, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const patch = (id: string, body: object) => acme.owner.patch(`/call-flows/${id}`, body);

describe('POST /call-flows', () => {
  it('seeds an entry that leads to a voicemail', async () => {
    const reply = await createFlow(acme, { phoneNumber: '+14155550199' });
    expect(reply.status).toBe(201);
    const flow = reply.body.data;
    expect(flow).toMatchObject({ name: 'Front desk', phoneNumber: '+14155550199', draftRevision: 1, publishedGraph: null, callsToday: 0 });
    expect(flow.draftGraph.nodes.map(({ kind }: Loose) => kind)).toEqual(['entry', 'voicemail']);
    expect(dataOf(await acme.owner.get(`/call-flows/${flow.id}`))).toEqual(flow);
  });

  it('refuses a number that another flow of the workspace has, and lets another workspace draft it', async () => {
    const phoneNumber = '+14155550198';
    await aFlow(acme, { phoneNumber });
    expectRefusal(await createFlow(acme, { phoneNumber }), 409, 'phoneNumber');
    const other = await api.seed.account();
    expect((await aFlow(other, { phoneNumber })).phoneNumber).toBe(phoneNumber);
  });

  it('refuses with 422 what has no shape of a graph, and never replaces it', async () => {
    const menu = (options: unknown) => through({ kind: 'menu', options });
    const malformed: unknown[] = [
      ...[null, 'x', [], 5, {}, { nodes: {} }, graph(5 as never), graph({ kind: 'entry' }), graph({ id: ' ', kind: 'entry' })],
      graph(entry('bye'), bye, { id: 'x'.repeat(201), kind: 'hangup' }),
      ...[graph(bye, bye), menu('1'), menu(null), menu(['1']), menu([{ label: 'Sales' }]), menu({ digit: '1' })],
    ];
    const flow = await aFlow(acme);
    await expectNothingWritten(api, async () => {
      for (const draftGraph of malformed) {
        expectRefusal(await createFlow(acme, { draftGraph }), 422);
        expectRefusal(await patch(flow.id, { draftGraph, expectedDraftRevision: 1 }), 422);
      }
    });
  });

  it('tells of the trial and of the number before the graph: 402, 409, 422', async () => {
    const late = await api.seed.account({ plan: 'trial' });
    const phoneNumber = '+14155550197';
    const { id } = await aFlow(late, { phoneNumber });
    const [draft, other] = [dataOf(await createFlow(late)), { phoneNumber, draftGraph: null }];
    expectRefusal(await createFlow(late, other), 409, 'phoneNumber');
    expectRefusal(await late.owner.patch(`/call-flows/${draft.id}`, { ...other, expectedDraftRevision: 1 }), 409, 'phoneNumber');
    expectRefusal(await late.owner.patch(`/call-flows/${draft.id}`, other), 428);
    expectRefusal(await late.owner.patch(`/call-flows/${id}`, { draftGraph: null, expectedDraftRevision: 1 }), 422, 'draftGraph');
    api.clock.advance(15 * day);
    expectRefusal(await (await late.login()).post('/call-flows', { name: 'Late', ...other }), 402);
    api.clock.reset();
  });

  it('keeps faults in a draft', async () => {
    const draftGraph = graph(entry('nowhere'), { id: 'x', kind: 'carousel', more: [1] });
    expect((await aFlow(acme, { draftGraph })).draftGraph).toEqual(draftGraph);
  });

  it('needs an admin, as every write but presence does', async () => {
    const member = await acme.member();
    expectRefusal(await member.post('/call-flows', { name: 'Mine' }), 403);
    const { id } = await aFlow(acme);
    for (const verb of ['publish', 'unpublish', 'wiring']) expectRefusal(await member.post(`/call-flows/${id}/${verb}`, {}), 403);
    expectRefusal(await member.patch(`/call-flows/${id}`, { name: 'Mine' }), 403);
    dataOf(await member.post(`/call-flows/${id}/simulate`, {}));
  });
});

describe('an API key with the scope settings and the permission read-write', () => {
  it('changes, publishes and unpublishes a flow', async () => {
    const key = await acme.key({ permission: 'read-write', scopes: ['settings'] });
    const { id } = await aFlow(acme, { phoneNumber: await freeNumber(acme) });
    const renamed = dataOf(await key.patch(`/call-flows/${id}`, { name: 'Renamed' }));
    expect(renamed.name).toBe('Renamed');
    const published = dataOf(await key.post(`/call-flows/${id}/publish`, { expectedUpdatedAt: renamed.updatedAt }));
    expect(published).toMatchObject({ publishedVersion: 1, wiring: { wired: true } });
    expect(dataOf(await key.post(`/call-flows/${id}/unpublish`))).toMatchObject({ publishedVersion: null });
  });

  it('makes no flow, wires none and releases no number', async () => {
    const key = await acme.key({ permission: 'read-write', scopes: ['settings'] });
    const { id } = await aFlow(acme);
    expectRefusal(await key.post('/call-flows', { name: 'Mine' }), 403);
    expectRefusal(await key.post(`/call-flows/${id}/wiring`), 403);
    expectRefusal(await key.post('/call-flows/tombstones/release', { phoneNumber: '+14155550196' }), 403);
  });

  it('changes nothing without that scope', async () => {
    const key = await acme.key({ permission: 'read-write', scopes: ['calls'] });
    const { id } = await aFlow(acme);
    expectRefusal(await key.patch(`/call-flows/${id}`, { name: 'Mine' }), 403);
    for (const verb of ['publish', 'unpublish']) expectRefusal(await key.post(`/call-flows/${id}/${verb}`, {}), 403);
  });
});

describe('PATCH /call-flows/{id}', () => {
  it('takes a draft with the revision that it is a change of: 428 before 409 before 422', async () => {
    const { id } = await aFlow(acme);
    for (const expectedDraftRevision of [undefined, null]) expectRefusal(await patch(id, { draftGraph: null, expectedDraftRevision }), 428);
    expectRefusal(await patch(id, { draftGraph: null, expectedDraftRevision: 7 }), 409);
    expectRefusal(await patch(id, { draftGraph: null, expectedDraftRevision: 1 }), 422, 'draftGraph');
    const saved = dataOf(await patch(id, { draftGraph: graph(entry('bye'), bye), expectedDraftRevision: 1 }));
    expect(saved.draftRevision).toBe(2);
    expectRefusal(await patch(id, { name: 'Late', expectedDraftRevision: 1 }), 409, 'expectedDraftRevision');
    expect(dataOf(await patch(id, { name: 'Renamed' }))).toMatchObject({ name: 'Renamed', draftRevision: 2 });
  });

  it('lets one of fifty win that save the same revision', async () => {
    const { id } = await aFlow(acme);
    const saves = Array.from({ length: 50 }, (_, n) => patch(id, { draftGraph: graph(entry(`n${n}`)), expectedDraftRevision: 1 }));
    const statuses = (await Promise.all(saves)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array(49).fill(409)]);
  });
});
