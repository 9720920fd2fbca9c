import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, server, type TestServer } from '../support/index.js';
import { Socket, Stream } from '../support/live.js';

let crm: TestServer;
let acme: Account;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
});
afterAll(() => crm.close());

describe('a live query', () => {
  it('keeps the lists of one person to them', async () => {
    const list = dataOf(
      await acme.owner.post('/smart-lists', {
        name: 'Mine',
        entity: 'contact',
        shared: false,
        filters: { field: 'firstName', op: 'eq', value: 'Zoe' },
      }),
    );
    const document = `subscription { live { contacts(filter: { smartListId: "${list.id}" }) { totalCount } } }`;
    await acme.contact({ firstName: 'Zoe' });
    const own = await Socket.open(crm.wire.port, {
      headers: { cookie: `service_session=${acme.owner.cookie}`, origin: `http://127.0.0.1:${crm.wire.port}` },
    });
    expect((await own.run(document).nth(1))[0].contacts.totalCount).toBe(1);
    // What is read for the owner is not handed to others of the same rights.
    const others = await Stream.open(await acme.member('admin'), document);
    expect((await others.nth(1))[0].contacts.totalCount).toBe(0);
    for (const one of [own, others]) one.cut();
  });

  it.each(['totalCount', 'rows { recordId }', 'removed isWhole'])(
    'keeps private lists to their owner, whatever is asked of them: %s',
    async (fields) => {
      const [owner, other] = [await acme.member(), await acme.member()];
      const filters = { field: 'firstName', op: 'eq', value: 'Zoe' };
      dataOf(await owner.post('/smart-lists', { name: `Mine ${fields}`, entity: 'contact', shared: false, filters }));
      const document = `subscription { live { smartLists(filter: { search: "Mine ${fields}" }) { totalCount ${fields} } } }`;
      // The owner comes first: what is read for them is not handed to others of the same rights.
      const [own, others] = [await Stream.open(owner, document), await Stream.open(other, document)];
      expect([(await own.nth(1))[0].smartLists.totalCount, (await others.nth(1))[0].smartLists.totalCount]).toEqual([1, 0]);
      for (const stream of [own, others]) stream.cut();
    },
  );
});
