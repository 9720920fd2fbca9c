import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, type Reply, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account({ plan: 'enterprise' });
});
afterAll(() => api.close());

const parallel = Array.from({ length: 50 }, (_, n) => n);
const statuses = (replies: Reply[]) => [...new Set(replies.map(({ status }) => status))].sort();

/** The log of a contact's changes, the oldest first. */
async function changesOf(id: string, field: string): Promise<{ from: unknown; to: unknown }[]> {
  const rows = await api.app.database.prisma.outboxEvent.findMany({
    where: { accountId: acme.id, entityId: id, name: 'contact.updated' },
    orderBy: { seq: 'asc' },
  });
  return rows.flatMap(({ changes }) => ((changes as Loose)[field] ? [(changes as Loose)[field]] : []));
}

describe('a contact that many change at once', () => {
  it('keeps what each of them said of it', async () => {
    const { id } = await acme.contact();
    const replies = await Promise.all(parallel.map((n) => acme.owner.patch(`/contacts/${id}`, { customFields: { [`k${n}`]: n } })));
    expect(statuses(replies)).toEqual([200]);
    const { customFields } = dataOf(await acme.owner.get(`/contacts/${id}`));
    expect(customFields).toEqual(Object.fromEntries(parallel.map((n) => [`k${n}`, n])));
  });

  it('goes from each value to the next, and the log tells the whole way', async () => {
    const { id } = await acme.contact({ firstName: 'Ada', city: 'start' });
    const replies = await Promise.all(parallel.map((n) => acme.owner.patch(`/contacts/${id}`, { city: `city ${n}` })));
    expect(statuses(replies)).toEqual([200]);
    const log = await changesOf(id, 'city');
    expect(log).toHaveLength(parallel.length);
    const next = new Map(log.map(({ from, to }) => [from, to]));
    let city: unknown = 'start';
    for (const _ of parallel) city = next.get(city);
    expect(city).toBe(dataOf(await acme.owner.get(`/contacts/${id}`)).city);
  });

  it('has every tag that was put on it while its fields changed', async () => {
    const { id } = await acme.contact();
    const tags = await Promise.all(parallel.slice(0, 10).map(async (n) => dataOf(await acme.owner.post('/tags', { name: `many ${n}` }))));
    const replies = await Promise.all(
      tags.flatMap((tag, n) => [
        acme.owner.post(`/contacts/${id}/tags`, { tagIds: [tag.id] }),
        acme.owner.patch(`/contacts/${id}`, { jobTitle: `Job ${n}` }),
      ]),
    );
    expect(replies.filter(({ status }) => status >= 300)).toEqual([]);
    const contact = dataOf(await acme.owner.get(`/contacts/${id}`));
    expect(contact.tags.map((tag: Loose) => tag.id).sort()).toEqual(tags.map((tag) => tag.id).sort());
  });

  it('is changed or gone, and never both, when it is merged or deleted meanwhile', async () => {
    for (const end of ['merge', 'delete']) {
      const [{ id: primary }, { id }] = [await acme.contact(), await acme.contact({ firstName: 'Ada', city: 'start' })];
      const [ended, ...replies] = await Promise.all([
        end === 'merge' ? acme.owner.post('/contacts/merge', { primaryId: primary, secondaryId: id }) : acme.owner.del(`/contacts/${id}`),
        ...parallel.slice(0, 12).map((n) => acme.owner.patch(`/contacts/${id}`, { city: `city ${n}` })),
      ]);
      expect(ended!.status).toBe(200);
      expect([200, 404]).toEqual(expect.arrayContaining(statuses(replies)));
      const changed = replies.filter(({ status }) => status === 200);
      expect(await changesOf(id, 'city')).toHaveLength(changed.length);
      expect((await acme.owner.get(`/contacts/${id}`)).status).toBe(404);
    }
  });
});

it('two contacts that a document changes are changed both or not at all, whoever comes between', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  const [first, second] = [await acme.contact(), await acme.contact()];
  const change = (id: string, n: number) => `updateContact(id: "${id}", input: { customFields: { d${n}: ${n} } }) { id }`;
  const replies = await Promise.all(
    parallel
      .slice(0, 20)
      .flatMap((n) => [
        acme.owner.gql(`mutation { a: ${change(first.id, n)} b: ${change(second.id, n)} }`),
        acme.owner.patch(`/contacts/${first.id}`, { customFields: { [`p${n}`]: n } }),
      ]),
  );
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
  const done = replies.filter((reply) => 'errors' in reply && !reply.errors).length;
  const kept = async (id: string) => Object.keys(dataOf(await acme.owner.get(`/contacts/${id}`)).customFields);
  const [ofFirst, ofSecond] = [await kept(first.id), await kept(second.id)];
  expect(ofSecond).toHaveLength(done);
  expect(ofFirst.filter((name) => name.startsWith('d')).sort()).toEqual(ofSecond.sort());
  expect(done).toBeGreaterThan(0);
});

it('shows the same moments wherever a contact is told of', async () => {
  const { id, createdAt } = await acme.contact();
  const changed = dataOf(await acme.owner.patch(`/contacts/${id}`, { city: 'Turin' }));
  const shown = dataOf(await acme.owner.get(`/contacts/${id}`));
  const { data } = await acme.owner.gql(`mutation { updateContact(id: "${id}", input: { city: "Milan" }) { createdAt lastActivityAt } }`);
  const [event] = await api.app.database.prisma.outboxEvent.findMany({
    where: { accountId: acme.id, entityId: id, name: 'contact.updated' },
    orderBy: { seq: 'asc' },
  });
  expect(changed).toEqual(shown);
  expect(event!.data).toEqual(JSON.parse(JSON.stringify(shown)));
  expect([changed.createdAt, data.updateContact.createdAt]).toEqual([createdAt, createdAt]);
});
