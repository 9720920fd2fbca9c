import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { type Account, dataOf, expectGraphQLRefusal, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());
beforeEach(async () => {
  acme = await api.seed.account();
});

/** As another process does it: this one is not told. */
const elsewhere = (sql: string, ...values: unknown[]) => api.app.database.execute(sql, values);

const createContact = (customFields: object) => acme.owner.post('/contacts', { firstName: 'Ada', customFields });

const field = async (given: object = {}): Promise<Loose> =>
  dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey: 'size', label: 'Size', fieldType: 'text', ...given }));

describe('custom fields that another process has changed since the last write', () => {
  it('hold for the next one: one that is required by now', async () => {
    const { id } = await field();
    dataOf(await createContact({ size: 'large' }));
    await elsewhere('update custom_fields set is_required = true where id = $1', id);
    expectRefusal(await createContact({ x: 1 }), 422, 'customFields.size');
  });

  it('hold where what was known would refuse: one that takes texts by now', async () => {
    const { id } = await field({ fieldType: 'number' });
    dataOf(await createContact({ size: 1 }));
    expectRefusal(await createContact({ size: 'large' }), 400, 'customFields.size');
    await elsewhere("update custom_fields set field_type = 'text' where id = $1", id);
    expect(dataOf(await createContact({ size: 'large' })).customFields).toEqual({ size: 'large' });
  });

  it('hold where there was none, and where there is none any more', async () => {
    dataOf(await createContact({ size: 1 }));
    const { id } = await field({ fieldType: 'number' });
    expectRefusal(await createContact({ size: 'large' }), 400, 'customFields.size');
    await elsewhere('delete from custom_fields where id = $1', id);
    dataOf(await createContact({ size: 'large' }));
  });

  it('hold for a change that comes to nothing', async () => {
    const { id } = await field();
    const contact = dataOf(await createContact({}));
    const same = () => acme.owner.patch(`/contacts/${contact.id}`, { customFields: { size: null } });
    expect((await same()).status).toBe(200);
    await elsewhere('update custom_fields set is_required = true where id = $1', id);
    expectRefusal(await same(), 422, 'customFields.size');
  });
});

describe('a stage that another process has changed since the last deal', () => {
  let pipeline: Loose;
  const createDeal = (given: object = {}) =>
    acme.owner.post('/deals', { title: 'Sale', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, ...given });
  beforeEach(async () => {
    pipeline = await acme.pipeline();
    dataOf(await createDeal());
  });

  it('gives the next one its new probability', async () => {
    await elsewhere('update stages set probability = 0.33 where id = $1', pipeline.stages[0].id);
    expect(dataOf(await createDeal()).probability).toBe(0.33);
  });

  it('takes none when it is gone', async () => {
    await elsewhere('update stages set deleted_at = now() where id = $1', pipeline.stages[0].id);
    expectRefusal(await createDeal(), 404);
  });

  it('asks what the workspace asks by now', async () => {
    await elsewhere('update accounts set lost_reason_required = true where id = $1', acme.id);
    expectRefusal(await createDeal({ status: 'lost' }), 422, 'lostReason');
  });
});

describe('what a record names and nobody has looked at', () => {
  it('is refused by its field when it is not there, whatever else is wrong', async () => {
    const pipeline = await acme.pipeline();
    const place = { pipelineId: pipeline.id, stageId: pipeline.stages[0].id };
    expectRefusal(await acme.owner.post('/contacts', { firstName: 'Ada', companyId: v7() }), 400, 'companyId');
    expectRefusal(await acme.owner.post('/tasks', { title: 'Call', contactId: v7(), assignedTo: v7() }), 400, 'contactId');
    await elsewhere('update accounts set lost_reason_required = true where id = $1', acme.id);
    expectRefusal(await acme.owner.post('/deals', { title: 'Sale', ...place, status: 'lost', contactId: v7() }), 400, 'contactId');
  });

  it('costs a deal no statement', async () => {
    const [pipeline, company, { userId }] = [await acme.pipeline(), await acme.company(), await acme.member()];
    const links = { companyId: company.id, assignedTo: userId };
    const create = async () =>
      dataOf(await acme.owner.post('/deals', { title: 'Sale', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, ...links }));
    await create();
    expect(await api.statements(create)).toBe(1);
  });
});

describe('what a document changes itself', () => {
  const all = async (document: string, variables: Loose): Promise<Loose> => {
    const { data, errors } = await acme.owner.gql(document, variables);
    expect(errors).toBeUndefined();
    return data;
  };

  it('is not remembered as it was in between: a custom field', async () => {
    const { id } = await field();
    await all(
      `mutation ($id: ID!) {
        first: updateCustomField(id: $id, input: { label: "How large" }) { id }
        createContact(input: { firstName: "Ada", customFields: { size: "large" } }) { id }
        last: updateCustomField(id: $id, input: { isRequired: true }) { id }
      }`,
      { id },
    );
    expectRefusal(await createContact({ x: 1 }), 422, 'customFields.size');
  });

  it('is not remembered as it was in between, and holds for what comes later in it: a stage', async () => {
    const { id: pipelineId, stages } = await acme.pipeline();
    const deal = { title: 'Sale', pipelineId, stageId: stages[0].id };
    const made = await all(
      `mutation ($id: ID!, $deal: CreateDealInput!) {
        before: createDeal(input: $deal) { probability }
        first: updateStage(id: $id, input: { probability: "0.11" }) { id }
        between: createDeal(input: $deal) { probability }
        last: updateStage(id: $id, input: { probability: "0.22" }) { id }
        after: createDeal(input: $deal) { probability }
      }`,
      { id: stages[0].id, deal },
    );
    expect([made.between.probability, made.after.probability].map(Number)).toEqual([0.11, 0.22]);
    expect(dataOf(await acme.owner.post('/deals', deal)).probability).toBe(0.22);
  });

  it('holds for what comes later in it: a custom field that is required by then', async () => {
    const { id } = await field();
    const contact = 'createContact(input: { firstName: "Ada", customFields: { x: 1 } }) { id }';
    const document = `mutation ($id: ID!) { before: ${contact} updateCustomField(id: $id, input: { isRequired: true }) { id } after: ${contact} }`;
    expectGraphQLRefusal(await acme.owner.gql(document, { id }), 422, 'customFields.size');
  });
});
