import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';

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
