import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  onPostgres,
  password,
  server,
  type TestServer,
  toldIn,
} from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

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

describe('POST /users/invite', () => {
  let nth = 0;
  const nextEmail = () => `again${++nth}@${acme.id}.example`;

  it('answers 422 for whom the workspace has, and tells nothing', async () => {
    const { email } = await acme.member();
    const document = 'mutation ($input: InviteUserInput!) { inviteUser(input: $input) { id } }';
    await expectNothingWritten(api, async () => {
      expectRefusal(await acme.owner.post('/users/invite', { email }), 422, 'email');
      expectGraphQLRefusal(await acme.owner.gql(document, { input: { email } }), 422, 'email');
    });
  });

  it('again tells what changed of what a user shows, and no more', async () => {
    const email = nextEmail();
    const invite = (body: object) => acme.owner.post('/users/invite', { email, ...body });
    const { id } = dataOf(await invite({ firstName: 'A', phone: '+15551234567' }));
    dataOf(await invite({ firstName: 'B', role: 'admin' }));
    dataOf(await invite({ phone: '+15557654321', role: 'member' }));
    expect((await logOf(id)).map(({ type, changes }) => [type, changes])).toEqual([
      ['user.invited', null],
      ['user.invited', { role: { from: 'member', to: 'admin' }, name: { from: 'A', to: 'B' } }],
      ['user.invited', { role: { from: 'admin', to: 'member' } }],
    ]);
  });

  it('accepted by a person who was unknown tells all that a user shows of them from then on', async () => {
    const email = nextEmail();
    const { id } = dataOf(await acme.owner.post('/users/invite', { email, firstName: 'Guessed' }));
    const token = await tokenMailed(api, email, 'accept-invite');
    dataOf(await api.anybody().post('/auth/accept-invite', { token, password, firstName: 'Ada', lastName: 'L' }));
    const where = { accountId: acme.id, entityId: id, name: 'user.updated' };
    const { changes }: Loose = await api.app.database.prisma.outboxEvent.findFirstOrThrow({ where });
    expect(changes).toEqual({
      ...{ status: { from: 'invited', to: 'active' }, emailVerified: { from: false, to: true } },
      ...{ name: { from: 'Guessed', to: 'Ada L' }, firstName: { from: null, to: 'Ada' }, lastName: { from: null, to: 'L' } },
    });
  });

  it('of one person, known elsewhere, by two at once is two invitations of which the later counts', async () => {
    for (let round = 0; round < 5; round++) {
      const { ownerEmail } = await api.seed.account();
      const replies = await Promise.all([1, 2].map(() => acme.owner.post('/users/invite', { email: ownerEmail })));
      expect(replies.map(({ status }) => status)).toEqual([201, 201]);
      const where = { kind: 'invite', accountId: acme.id, userId: dataOf(replies[0]!).id, usedAt: null };
      expect(await api.app.database.prisma.token.count({ where })).toBe(1);
    }
  });

  onPostgres(it)('of a person who accepts at that moment leaves a member who joined, or an invitation', async () => {
    for (let round = 0; round < 5; round++) {
      const email = nextEmail();
      const { id } = dataOf(await acme.owner.post('/users/invite', { email }));
      const token = await tokenMailed(api, email, 'accept-invite');
      const person = api.anybody();
      const [accepted, again] = await Promise.all([
        person.post('/auth/accept-invite', { token, password }),
        acme.owner.post('/users/invite', { email }),
      ]);
      const { status } = dataOf(await acme.owner.get(`/users/${id}`));
      if (accepted.status === 200) expect([again.status, status, (await person.get('/auth/me')).status]).toEqual([422, 'active', 200]);
      else expect([accepted.status, again.status, status]).toEqual([400, 201, 'invited']);
    }
  });
});

describe('an invitation that is sent again', () => {
  const rights = { role: 'admin', permissions: ['settings:edit'] };
  const given = { role: 'admin', permissions: { 'settings:edit': true } };
  const inviting =
    (email: string) =>
    async (body: object = {}): Promise<Loose> =>
      dataOf(await acme.owner.post('/users/invite', { email, ...body }));

  it('leaves the role and the permissions that it does not name', async () => {
    const invite = inviting(`stands@${acme.id}.example`);
    const { id } = await invite(given);
    const told = await toldIn(acme, async () => expect(await invite()).toMatchObject(rights));
    expect(told.events).toEqual([`user.invited ${id}`, `user.updated ${id}`]);
    expect(told.rows.map(({ changes }) => changes)).toEqual([{}, {}]);
    expect(await invite({ role: 'member' })).toMatchObject({ ...rights, role: 'member' });
    dataOf(await acme.owner.patch(`/users/${id}`, { role: 'admin' }));
    expect(await invite({ role: null, permissions: null })).toMatchObject(rights);
    expect(await invite({ permissions: {} })).toMatchObject({ role: 'admin', permissions: [] });
  });

  it('gives who was removed nothing of what they had', async () => {
    const invite = inviting(`ended@${acme.id}.example`);
    const { id } = await invite(given);
    dataOf(await acme.owner.del(`/users/${id}`));
    expect(await invite()).toMatchObject({ id, role: 'member', permissions: [] });
  });
});

describe('permissions of a member', () => {
  const input = { permissions: { 'settings:edit': true } };
  const change = (caller: Pick<typeof acme.owner, 'patch'>) => caller.patch('/settings/workspace', { currency: 'CHF' });

  it('are given by an invitation, shown, and taken back', async () => {
    const email = `may.edit@${acme.id}.example`;
    const given = { 'settings:edit': true, unknown: true, no: false, text: 'true' };
    const { id, permissions } = dataOf(await acme.owner.post('/users/invite', { email, permissions: given }));
    expect(permissions).toEqual(['settings:edit', 'unknown']);
    const member = api.anybody();
    dataOf(await member.post('/auth/accept-invite', { token: await tokenMailed(api, email, 'accept-invite'), password }));
    expect(dataOf(await member.get('/auth/me')).permissions).toEqual(permissions);
    expect((await member.gql('{ me { permissions user { permissions } } }')).data.me).toEqual({ permissions, user: { permissions } });
    dataOf(await change(member));

    const told = await toldIn(acme, async () => {
      for (let twice = 0; twice < 2; twice++)
        expect(dataOf(await acme.owner.patch(`/users/${id}`, { permissions: {} })).permissions).toEqual([]);
    });
    expect([told.events, told.entries]).toEqual([[`user.updated ${id}`], [`user.updated ${id}`]]);
    expect(told.rows[0]).toMatchObject({ changes: { permissions: { from: permissions, to: [] } }, data: { permissions: [] } });
    expectRefusal(await change(member), 403);
    expect(dataOf(await member.get('/auth/me')).permissions).toEqual([]);
  });

  it('are given by whoever gives roles, and neither to oneself nor to the owner', async () => {
    const [admin, member] = [await acme.member('admin'), await acme.member()];
    const document = 'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { permissions } }';
    await expectNothingWritten(api, async () => {
      expectRefusal(await member.patch(`/users/${member.userId}`, input), 403);
      for (const id of [admin.userId, acme.ownerId]) {
        expectRefusal(await admin.patch(`/users/${id}`, input), 403);
        expectGraphQLRefusal(await admin.gql(document, { id, input }), 403);
      }
      expectRefusal(await acme.owner.patch(`/users/${acme.ownerId}`, input), 403);
      expectRefusal(await admin.patch(`/users/${member.userId}`, { permissions: null }), 400, 'permissions');
      expectRefusal(await change(member), 403);
    });
    const { data } = await admin.gql(document, { id: member.userId, input });
    expect(data.updateUser).toEqual({ permissions: ['settings:edit'] });
    dataOf(await change(member));
    expect(dataOf(await member.get(`/users/${member.userId}`)).permissions).toEqual(['settings:edit']);
    const found = await member.gql('{ users(where: { permissions: { eq: "settings:edit" } }) { nodes { id } } }');
    expect(found.data.users.nodes).toEqual([{ id: member.userId }]);
  });
});

describe('what two do to a person at once', () => {
  it('is done and told once: a removal', async () => {
    for (let round = 0; round < 3; round++) {
      const { userId } = await acme.member();
      const told = await toldIn(acme, async () => {
        const replies = await Promise.all([1, 2, 3].map(() => acme.owner.del(`/users/${userId}`)));
        expect(replies.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
      });
      expect(told.entries).toEqual([`user.removed ${userId}`]);
      expect(told.events).toEqual([`user.deleted ${userId}`, `user.removed ${userId}`]);
    }
  });

  it('is done and told once: a change', async () => {
    const { userId } = await acme.member();
    const told = await toldIn(acme, async () => {
      const replies = await Promise.all([1, 2, 3].map(() => acme.owner.patch(`/users/${userId}`, { role: 'admin' })));
      expect(replies.map((reply) => dataOf(reply).role)).toEqual(['admin', 'admin', 'admin']);
    });
    expect(told.events).toEqual([`user.updated ${userId}`]);
  });

  it('is done and told once: to a key', async () => {
    const { record } = await acme.key();
    const told = await toldIn(acme, async () => {
      const replies = await Promise.all([
        ...[1, 2].map(() => acme.owner.patch(`/api-keys/${record.id}`, { name: 'renamed' })),
        ...[1, 2].map(() => acme.owner.del(`/api-keys/${record.id}`)),
      ]);
      const [, , ...revoked] = replies.map(({ status }) => status);
      expect(revoked.sort()).toEqual([200, 404]);
    });
    const names = told.rows.map(({ name }) => name);
    expect(names.filter((name) => name !== 'api_key.updated').sort()).toEqual(['api_key.deleted', 'api_key.revoked']);
    expect(names.filter((name) => name === 'api_key.updated').length).toBeLessThanOrEqual(1);
    expect(names.indexOf('api_key.updated')).toBeLessThan(names.indexOf('api_key.deleted'));
  });
});

it('The log remembers who was invited, changed, removed and invited again', async () => {
  const email = `logged@${acme.id}.example`;
  const { id } = dataOf(await acme.owner.post('/users/invite', { email }));
  dataOf(await acme.owner.patch(`/users/${id}`, { role: 'admin' }));
  dataOf(await acme.owner.patch(`/users/${id}`, { role: 'admin' }));
  dataOf(await acme.owner.del(`/users/${id}`));
  dataOf(await acme.owner.post('/users/invite', { email }));
  const log = await logOf(id);
  expect(log.map((entry: Loose) => [entry.type, entry.action, entry.changes])).toEqual([
    ['user.invited', 'created', null],
    ['user.updated', 'updated', { role: { from: 'member', to: 'admin' } }],
    ['user.removed', 'deleted', { status: { from: 'invited', to: 'removed' } }],
    ['user.invited', 'created', { status: { from: 'removed', to: 'invited' }, role: { from: 'admin', to: 'member' } }],
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
