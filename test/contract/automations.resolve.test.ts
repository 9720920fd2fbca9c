import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const resolve = async (...items: Loose[]) => dataOf(await acme.owner.post('/automations/resolve', { items })) as Loose[];
const pipelineOf = async (name: string, stage: string) =>
  dataOf(await acme.owner.post('/pipelines', { name, stages: [{ name: stage }] })) as Loose;

describe('a stage of a deleted pipeline', () => {
  it('is not what its name means', async () => {
    const old = await pipelineOf('Old', 'Qualified');
    dataOf(await acme.owner.del(`/pipelines/${old.id}`));
    const item = { type: 'stage', name: 'Qualified' };
    expect(await resolve(item)).toEqual([{ ...item, id: null, candidates: [] }]);
    const [stage] = (await pipelineOf('New', 'Qualified')).stages;
    const [now, within] = await resolve(item, { ...item, parent: 'Old' });
    expect(now).toEqual({ ...item, id: stage.id, candidates: [{ id: stage.id, name: 'Qualified' }] });
    expect([within!.id, within!.candidates]).toEqual([null, []]);
  });
});
