import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { GraphQLObjectType } from 'graphql';
import { contract } from '../../src/app.js';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  type Loose,
  password,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** What a document answers, without an error. */
async function ask(document: string, variables?: Record<string, unknown>): Promise<Loose> {
  const { data, errors } = await acme.owner.gql(document, variables);
  expect(errors).toBeUndefined();
  return data;
}

describe('an id', () => {
  it('of what was deleted or archived is no id of an object, and stays one in REST', async () => {
    const [tag, gone] = [await acme.tag(), await acme.tag()];
    const { deleteTag } = await ask(`mutation { deleteTag(id: "${tag.id}") { deletedId deleted } }`);
    expect(deleteTag).toEqual({ deletedId: tag.id, deleted: true });
    expect((await acme.owner.del(`/tags/${gone.id}`)).text).toBe(`{"data":{"id":"${gone.id}","deleted":true}}`);
    const { id } = dataOf(await acme.owner.post('/products', { name: 'Hours' }));
    expect((await acme.owner.del(`/products/${id}`)).text).toBe(`{"data":{"id":"${id}","archived":true}}`);
  });

  it('of a new API key is that of the key, with the secret beside it', async () => {
    const input = { name: 'mine', permission: 'read' };
    const create = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { __typename id name prefix } } }';
    const { createApiKey: made } = await ask(create, { input });
    expect(made.apiKey).toMatchObject({ __typename: 'ApiKey', name: 'mine', prefix: made.secret.slice(0, 12) });
    expect(await ask(`{ apiKey(id: "${made.apiKey.id}") { name } }`)).toEqual({ apiKey: { name: 'mine' } });
    const key = api.anybody().with({ authorization: `Bearer ${made.secret}` });
    expect((await key.gql('{ checkApiKey { apiKeyId } }')).data.checkApiKey.apiKeyId).toBe(made.apiKey.id);
    expect(Object.keys(dataOf(await acme.owner.post('/api-keys', input)))).toEqual([
      ...['id', 'name', 'scopes', 'ipAllowlist', 'rateLimit', 'expiresAt', 'permission', 'prefix', 'lastUsedAt', 'createdAt', 'key'],
    ]);
  });

  it('of a stage is that of a Stage, which has its figures', async () => {
    const pipeline = await acme.pipeline();
    const stage = pipeline.stages[0];
    await acme.deal({ pipelineId: pipeline.id, stageId: stage.id, value: 250 });
    const figures = 'statistics { stageId dealCount totalValue weightedValue }';
    const { pipeline: found } = await ask(`{ pipeline(id: "${pipeline.id}") { stages { id ${figures} } } }`);
    expect(found.stages[0]).toMatchObject({ id: stage.id, statistics: { stageId: stage.id, dealCount: 1, totalValue: 250 } });
    expect(found.stages[1].statistics).toEqual({ stageId: found.stages[1].id, dealCount: 0, totalValue: 0, weightedValue: 0 });
  });
});

describe('a person', () => {
  const fields = '__typename id name email role status createdAt firstName lastName';

  it('is one user, wherever an answer leads to them', async () => {
    const member = await acme.member();
    const { data, errors } = await member.gql(`{ me { user { ${fields} } workspace { __typename id name plan memberCount } } }`);
    expect(errors).toBeUndefined();
    const { user } = await ask(`{ user(id: "${member.userId}") { ${fields} } }`);
    expect(data.me.user).toEqual(user);
    expect(user).toMatchObject({
      __typename: 'User',
      name: 'Mem Ber',
      firstName: 'Mem',
      lastName: 'Ber',
      role: 'member',
      status: 'active',
    });
    expect(data.me.workspace).toMatchObject({ __typename: 'Workspace', id: acme.id, plan: 'enterprise', memberCount: 2 });
    const login = `mutation ($input: LoginInput!) { login(input: $input) {
      user { ${fields} } account { __typename id name plan } accounts { accountId name role } } }`;
    const entered = await api.anybody().gql(login, { input: { email: member.email, password } });
    expect(entered.data.login).toEqual({
      user,
      account: { __typename: 'Workspace', id: acme.id, name: 'Acme', plan: 'enterprise' },
      accounts: [{ accountId: acme.id, name: 'Acme', role: 'member' }],
    });
  });

  it('shows in REST what the contract shows', async () => {
    const login = dataOf(await api.anybody().post('/auth/login', { email: acme.ownerEmail, password }));
    expect(login.user).toEqual({ id: acme.ownerId, email: acme.ownerEmail, firstName: null, lastName: null });
    expect(login.account).toEqual({ id: acme.id, name: 'Acme' });
    expect(login.accounts).toEqual([{ id: acme.id, name: 'Acme', role: 'owner' }]);
    const me = await acme.owner.get('/auth/me');
    expect(Object.keys(me.body.data.user)).toEqual(['id', 'name', 'email', 'emailVerified', 'role']);
    expect(Object.keys(me.body.data.workspace)).toEqual(['id', 'name', 'plan', 'memberCount']);
  });

  it('tells of themselves what is told elsewhere only once they have joined', async () => {
    const { ownerEmail } = await api.seed.account();
    const { data } = await acme.owner.gql(
      'mutation ($input: InviteUserInput!) { inviteUser(input: $input) { name firstName emailVerified status } }',
      { input: { email: ownerEmail, firstName: 'Some' } },
    );
    expect(data.inviteUser).toEqual({ name: 'Some', firstName: null, emailVerified: false, status: 'invited' });
  });
});

describe('what a login says of a person', () => {
  it('leads on to records only after the login', async () => {
    const input = { email: acme.ownerEmail, password };
    const login = (of: string) =>
      api.anybody().gql(`mutation ($input: LoginInput!) { login(input: $input) { user { id ${of} } } }`, { input });
    expect((await login('name')).data.login.user.id).toBe(acme.ownerId);
    expect((await login('contacts { nodes { id } }')).errors![0].extensions.code).toBe('unauthenticated');
  });

  it('leads no further either before the second factor that the role must have', async () => {
    const strict = await api.seed.account();
    const member = await strict.member();
    dataOf(await strict.owner.patch('/auth/mfa/policy', { roles: ['member'] }));
    api.clock.advance(2000);
    expect((await member.gql('{ me { user { id role } } }')).data.me.user.role).toBe('member');
    expectGraphQLRefusal(await member.gql('{ me { user { contacts { nodes { id } } } } }'), 403);
  });

  it('reads of themselves by a key of any scope what there is, and no further', async () => {
    const key = await acme.key({ scopes: ['tags'] });
    expect((await key.gql('{ me { user { id email role status } } }')).data.me.user.role).toBe('owner');
    expectGraphQLRefusal(await key.gql('{ me { user { deals { nodes { id } } } } }'), 403);
  });
});

describe('a stage', () => {
  it('is changed and deleted by its id alone', async () => {
    const { stages } = await acme.pipeline();
    const [{ id }] = stages;
    const { updateStage } = await ask(`mutation { updateStage(id: "${id}", input: { name: "Fresh" }) { id name } }`);
    expect(updateStage).toEqual({ id, name: 'Fresh' });
    expect((await ask(`mutation { deleteStage(id: "${id}") { deletedId movedDeals } }`)).deleteStage).toEqual({
      deletedId: id,
      movedDeals: 0,
    });
    for (const call of [`updateStage(id: "${id}", input: {}) { id }`, `deleteStage(id: "${id}") { deletedId }`]) {
      expectGraphQLRefusal(await acme.owner.gql(`mutation { ${call} }`), 404);
    }
  });

  it('of another pipeline than the one that is told is not found, through either API', async () => {
    const [one, other] = [await acme.pipeline(), await acme.pipeline()];
    const { id } = one.stages[0];
    const call = `mutation { updateStage(id: "${id}", pipelineId: "${other.id}", input: { name: "x" }) { id } }`;
    expectGraphQLRefusal(await acme.owner.gql(call), 404);
    expectRefusal(await acme.owner.patch(`/pipelines/${other.id}/stages/${id}`, { name: 'x' }), 404);
    expect(dataOf(await acme.owner.patch(`/pipelines/${one.id}/stages/${id}`, { name: 'y' })).name).toBe('y');
  });
});

it('The description of every id names its record', () => {
  const fields = ['Query', 'Mutation'].flatMap((root) => Object.values((contract().schema.getType(root) as GraphQLObjectType).getFields()));
  const ids = fields.flatMap(({ name, args }) => args.filter((arg) => arg.name === 'id').map((arg) => [name, arg.description]));
  expect(ids.length).toBeGreaterThan(30);
  for (const [name, description] of ids) expect([name, description]).toEqual([name, expect.stringMatching(/^The .+'s id$/)]);
  expect(ids).toContainEqual(['deleteStage', "The stage's id"]);
  expect(ids).toContainEqual(['revokeApiKey', "The API key's id"]);
  expect(ids).toContainEqual(['contactScore', "The contact's id"]);
});
