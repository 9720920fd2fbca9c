import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, expectNothingWritten, expectRefusal, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe('a member of a body that has two names', () => {
  it.each([
    [422, '/users/invite', { email: 'ivy@example.com', first_name: 5 }, 'first_name'],
    [422, '/users/invite', { email: 'ivy@example.com', last_name: 'x'.repeat(101) }, 'last_name'],
    [422, '/users/invite', { email: 'ivy@example.com', lastName: 'x'.repeat(101) }, 'lastName'],
    [400, '/products', { name: 'Widget', active: 'maybe' }, 'active'],
    [400, '/products', { name: 'Widget', isActive: 'maybe' }, 'isActive'],
    [400, '/products', { name: 'Widget', isActive: true, active: 'maybe' }, 'active'],
    [400, '/products', { name: 'Widget', active: true, isActive: 'maybe' }, 'isActive'],
  ])('is named in the %i of POST %s as the client named it: %j', async (status, path, body, name) => {
    await expectNothingWritten(api, async () => {
      const reply = await acme.owner.post(path, body);
      expectRefusal(reply, status, name);
      expect(reply.body.details.map(({ field }: { field: string }) => field)).toEqual([name]);
      expect(reply.body.error).toMatch(new RegExp(`^${name} `));
    });
  });

  it('is named so where a stage is put in its place', async () => {
    const { id, stages } = await acme.pipeline();
    for (const [name, value] of [
      ['position', -1],
      ['position', 'first'],
      ['order', -1],
      ['sortOrder', 1.5],
    ] as const) {
      // biome-ignore format: one line
      const made = await acme.owner.post(`/pipelines/${id}/stages`, { name: 'New', [name]: value });
      const moved = await acme.owner.patch(`/pipelines/${id}/stages/${stages[0].id}`, { [name]: value });
      for (const reply of [made, moved]) expect([reply.status, reply.body.details[0].field]).toEqual([400, name]);
      expect(moved.body.error).toMatch(new RegExp(`^${name} `));
    }
  });
});
