import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let crm: TestServer;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

const dataOfEvents = async (caller: Client, query: string) => {
  const reply = await caller.get(`/events${query}`);
  expect(reply.status).toBe(200);
  return reply.body.data;
};

describe('events of some names', () => {
  it('are found however far apart they are, each once and in their order, with their number', async () => {
    const account = await crm.seed.account();
    const member = await account.member();
    const tags = async (many: number) => {
      // At most 20 root fields.
      for (let from = 0; from < many; from += 20) {
        const fields = Array.from(
          { length: Math.min(20, many - from) },
          (_, i) => `t${i}: createTag(input: { name: "${crm.clock.id()}" }) { id }`,
        );
        expect((await account.owner.gql(`mutation { ${fields.join(' ')} }`)).errors).toBeUndefined();
      }
    };
    const list = { entity: 'contact', filters: { field: 'city', op: 'eq', value: 'Paris' }, shared: false };
    for (const many of [1, 30, 25, 30, 2]) {
      await account.contact();
      await tags(many);
      await member.post('/smart-lists', { name: `Mine ${many}`, ...list });
      if (many === 25) await account.task();
    }
    await eventually(async () => (await dataOfEvents(member, '?per_page=1')).meta.total >= 99);
    const whole = async (client: Client) => (await dataOfEvents(client, '?per_page=200')).data as { id: string; name: string }[];
    const choices = [
      ['contact.created'],
      ['task.created'],
      ['smart_list.created'],
      ['contact.created', 'smart_list.created'],
      ['tag.created'],
    ];
    for (const client of [account.owner, member]) {
      for (const names of choices) {
        const wanted = (await whole(client)).filter(({ name }) => names.includes(name)).map(({ id }) => id);
        for (const size of [1, 2, 7]) {
          const found: string[] = [];
          for (let after = '0', more = true; more; ) {
            const { data, meta } = await dataOfEvents(client, `?per_page=${size}&after=${after}&names=${names}`);
            expect([names, size, meta.total]).toEqual([names, size, wanted.length]);
            found.push(...data.map(({ id }: { id: string }) => id));
            more = meta.next_cursor !== null;
            after = meta.position;
          }
          expect([names, size, found]).toEqual([names, size, wanted]);
        }
      }
    }
  });
});
