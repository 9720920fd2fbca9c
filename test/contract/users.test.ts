import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer, toldIn } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const logOf = (entityId: string) => api.app.database.prisma.activity.findMany({ where: { entityId }, orderBy: { id: 'asc' } });

describe('DELETE /users/{id}', () => {
  it('leaves what was theirs to nobody, and each record tells it', async () => {
    const { userId } = await acme.member();
    const [contact, gone] = [
      await acme.contact({ firstName: 'a', assignedTo: userId }),
      await acme.contact({ firstName: 'b', assignedTo: userId }),
    ];
    dataOf(await acme.owner.del(`/contacts/${gone.id}`));
    const deal = await acme.deal({ assignedTo: userId });
    const [task, company] = [await acme.task({ assignedTo: userId }), await acme.company({ ownerId: userId })];

    const told = await toldIn(acme, async () => dataOf(await acme.owner.del(`/users/${userId}`)));
    const unassigned = [`contact.updated ${contact.id}`, `deal.updated ${deal.id}`, `task.updated ${task.id}`];
    const changed = [...unassigned, `company.updated ${company.id}`];
    expect(told.events).toEqual([...changed, `user.deleted ${userId}`, `user.removed ${userId}`].sort());
    expect(told.entries).toEqual([...changed, `user.removed ${userId}`].sort());
    for (const row of told.rows.filter(({ name, entityId }) => unassigned.includes(`${name} ${entityId}`))) {
      expect(row.changes).toEqual({ assignedTo: { from: userId, to: null } });
      expect(row.data.assignedTo).toBeNull();
    }
    expect(told.rows.find((row) => row.entityId === company.id)!.changes).toEqual({ ownerId: { from: userId, to: null } });
    expect(dataOf(await acme.owner.get(`/contacts/${contact.id}`)).assignedTo).toBeNull();
    expect(dataOf(await acme.owner.get(`/deals/${deal.id}`)).assignedTo).toBeNull();
    expect(dataOf(await acme.owner.get(`/tasks/${task.id}`)).assignedTo).toBeNull();
    expect(dataOf(await acme.owner.get(`/companies/${company.id}`)).ownerId).toBeNull();
  });

  it('is refused for the owner and for oneself', async () => {
    const admin = await acme.member('admin');
    expectRefusal(await acme.owner.del(`/users/${acme.ownerId}`), 403);
    expectRefusal(await admin.del(`/users/${admin.userId}`), 403);
  });
});

it('The log remembers who was invited, changed and removed', async () => {
  const { id } = dataOf(await acme.owner.post('/users/invite', { email: `logged@${acme.id}.example` }));
  dataOf(await acme.owner.patch(`/users/${id}`, { role: 'admin' }));
  dataOf(await acme.owner.patch(`/users/${id}`, { role: 'admin' }));
  dataOf(await acme.owner.del(`/users/${id}`));
  const log = await logOf(id);
  expect(log.map((entry: Loose) => [entry.type, entry.action, entry.changes])).toEqual([
    ['user.invited', 'created', null],
    ['user.updated', 'updated', { role: { from: 'member', to: 'admin' } }],
    ['user.removed', 'deleted', null],
  ]);
});

it('A user leads to the contacts that they look after, in GraphQL', async () => {
  const { userId } = await acme.member();
  const { id } = await acme.contact({ firstName: 'Ada', assignedTo: userId });
  const reply = await acme.owner.gql('query ($id: ID!) { user(id: $id) { contacts(first: 5) { nodes { id assignedUser { id } } } } }', {
    id: userId,
  });
  expect(reply.data).toEqual({ user: { contacts: { nodes: [{ id, assignedUser: { id: userId } }] } } });
});
