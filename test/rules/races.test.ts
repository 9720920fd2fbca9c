import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, onPostgres, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
let small: Account;
beforeAll(async () => {
  api = await server();
  [acme, small] = [await api.seed.account(), await api.seed.account({ plan: 'trial' })];
});
afterAll(() => api.close());

const statusesOf = (replies: { status: number }[]) => replies.map(({ status }) => status).sort((a, b) => a - b);

onPostgres(describe)('what two do at once', () => {
  it('to two tags, merged into each other, leaves one of them', async () => {
    for (let n = 0; n < 10; n++) {
      const [a, b] = [await acme.tag(`a${n}`), await acme.tag(`b${n}`)];
      const merge = (sourceId: string, targetId: string) => acme.owner.post('/tags/merge', { sourceId, targetId });
      expect(statusesOf(await Promise.all([merge(a.id, b.id), merge(b.id, a.id)]))).toEqual([200, 404]);
      const left = await Promise.all([a, b].map(({ id }) => acme.owner.get(`/tags/${id}`)));
      expect(statusesOf(left)).toEqual([200, 404]);
    }
  });

  it('near the limit of a plan never goes over it', async () => {
    const data = Array.from({ length: 990 }, (_, n) => ({ accountId: small.id, id: api.clock.id(), firstName: `C${n}` }));
    const times = { createdAt: api.clock.now(), updatedAt: api.clock.now() };
    await api.app.database.prisma.contact.createMany({ data: data.map((row) => ({ ...row, ...times })) });
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => small.owner.post('/contacts', { firstName: `D${n}` })));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 402)).toHaveLength(30);
  });
});

describe('a cell that names a member of every object', () => {
  it('is an ordinary wrong value, and its import ends', async () => {
    const rows = [{ firstName: 'Ada', doNotContact: 'constructor' }];
    const made = dataOf(await acme.owner.post('/imports', { rows }));
    expect(made.preview[0].error).toMatch(/doNotContact must be true or false/);
  });
});

describe('a body of very many faults', () => {
  it.each([
    [19_999, 'at the hundredth', 100],
    [400_000, 'for their number', 1],
  ])('is refused before it has cost a second: %i, %s', async (length, _why, told) => {
    const rows = Array.from({ length }, (_, n) => n);
    const begun = performance.now();
    const reply = await acme.owner.post('/imports', { rows });
    expect([reply.status, reply.body.details.length]).toEqual([400, told]);
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});
