import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { mostActive } from '../../src/modules/actions/action.limit.js';
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
});
