import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { mostActive } from '../../src/kernel/operations/activeLimit.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { endedRuns } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('a workspace', () => {
  it('has five hundred active workflows at most, and each event is held against all of them', async () => {
    const { workflow } = api.app.database.prisma;
    const trigger = { event: 'contact.created', conditions: { lastName: 'Everybody' } };
    const make = async (name: string): Promise<Loose> => dataOf(await acme.owner.post('/workflows', { name, trigger }));
    const [first, one, next] = [await make('First'), await make('One'), await make('Next')];
    dataOf(await acme.owner.post(`/workflows/${first.id}/activate`));
    const row = await workflow.findFirstOrThrow({ where: { accountId: acme.id, id: first.id } });
    const given = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    await workflow.createMany({ data: Array.from({ length: mostActive - 2 }, () => ({ ...given, id: v7() })) as never });
    dataOf(await acme.owner.post(`/workflows/${one.id}/activate`));
    expectRefusal(await acme.owner.post(`/workflows/${next.id}/activate`), 422, 'isActive');
    expectRefusal(await acme.owner.patch(`/workflows/${next.id}`, { isActive: true }), 422, 'isActive');
    await acme.contact({ lastName: 'Everybody' });
    expect(await endedRuns(acme, one)).toHaveLength(1);
    dataOf(await acme.owner.post(`/workflows/${one.id}/deactivate`));
    dataOf(await acme.owner.post(`/workflows/${next.id}/activate`));
  });

  it('has five hundred active webhooks at most', async () => {
    const { webhook } = api.app.database.prisma;
    const post = (fields: Loose) => acme.owner.post('/webhooks/manage', { url: 'https://127.0.0.1:1/in', events: ['deal.won'], ...fields });
    const make = async (fields: Loose = {}): Promise<Loose> => dataOf(await post(fields));
    const [first, one, next] = [await make(), await make({ isActive: false }), await make({ isActive: false })];
    const activate = ({ id }: Loose, isActive = true) => acme.owner.patch(`/webhooks/manage/${id}`, { isActive });
    const row = await webhook.findFirstOrThrow({ where: { accountId: acme.id, id: first.id } });
    const given = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    await webhook.createMany({ data: Array.from({ length: mostActive - 2 }, () => ({ ...given, id: v7() })) as never });
    dataOf(await activate(one));
    expectRefusal(await activate(next), 422, 'isActive');
    expectRefusal(await post({}), 422, 'isActive');
    await make({ isActive: false });
    dataOf(await acme.owner.patch(`/webhooks/manage/${one.id}`, { description: 'It stays active', isActive: true }));
    dataOf(await activate(one, false));
    dataOf(await acme.owner.del(`/webhooks/manage/${first.id}`));
    dataOf(await activate(next));
    await make();
    expectRefusal(await activate(one), 422, 'isActive');
  });
});
