import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  server,
  type TestServer,
} from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

const nobody = '00000000-0000-7000-8000-000000000000';

/** A field that is required of the records of a type that are made, and of those that have it. */
const required = async (entityType: string) =>
  dataOf(await acme.owner.post('/custom-fields', { entityType, fieldKey: 'size', label: 'Size', fieldType: 'number', isRequired: true }));

beforeEach(async () => {
  acme = await api.seed.account();
});

const without = { customFields: {} };
const emptied = { customFields: { size: null } };
const [missing, wrong] = [{ customFields: { size: 3 } }, { customFields: { size: 'many' } }];

/** Sends what has several faults, and then what has one less, and so on: each is refused for the first fault that it has. */
async function refusedInTurn(method: string, path: string, turns: readonly [body: object, status: number, field?: string][]) {
  await expectNothingWritten(api, async () => {
    for (const [body, status, field] of turns) expectRefusal(await acme.owner.send(method, path, body), status, field);
  });
}

describe('a wrong reference is told (400) before a required custom field that is missing (422)', () => {
  it('of a contact', async () => {
    await required('contact');
    const contact = await acme.contact({ firstName: 'Ada', ...missing });
    await refusedInTurn('POST', '/contacts', [
      [{ firstName: 'Ada', assignedTo: nobody, ...without }, 400, 'assignedTo'],
      [{ firstName: 'Ada', ...without }, 422, 'customFields.size'],
    ]);
    await refusedInTurn('PATCH', `/contacts/${contact.id}`, [
      [{ assignedTo: nobody, ...emptied }, 400, 'assignedTo'],
      [{ companyId: nobody, ...emptied }, 400, 'companyId'],
      [emptied, 422, 'customFields.size'],
    ]);
    await refusedInTurn('PATCH', `/contacts/${nobody}`, [[{ assignedTo: nobody, ...emptied }, 404]]);
  });

  it('of a company', async () => {
    await required('company');
    const company = dataOf(await acme.owner.post('/companies', { name: 'Acme', ...missing }));
    await refusedInTurn('POST', '/companies', [
      [{ name: 'Acme', ownerId: nobody, ...without }, 400, 'ownerId'],
      [{ name: 'Acme', ...without }, 422, 'customFields.size'],
    ]);
    await refusedInTurn('PATCH', `/companies/${company.id}`, [
      [{ parentCompanyId: company.id, ownerId: nobody, ...emptied }, 400, 'ownerId'],
      [{ parentCompanyId: company.id, ...wrong }, 400, 'customFields.size'],
      [{ parentCompanyId: company.id }, 422, 'parentCompanyId'],
      [emptied, 422, 'customFields.size'],
    ]);
    await refusedInTurn('PATCH', `/companies/${nobody}`, [[{ ownerId: nobody, ...emptied }, 404]]);
  });
});

const twice = [
  { id: nobody, name: 'a', unitPrice: '1' },
  { id: nobody, name: 'b', unitPrice: '1' },
];
const tooMuch = [{ name: 'a', unitPrice: '9999999999', quantity: '9999999999' }];

/** What a deal is refused for, whether it is made or changed, in this order. */
async function faulty() {
  await required('deal');
  const [{ id: pipelineId, stages }, other] = [await acme.pipeline(), await acme.pipeline()];
  const right = { pipelineId, stageId: stages[0].id };
  const turns: [object, number, string?][] = [
    [{ ...right, stageId: nobody, contactId: nobody, ...wrong }, 400, 'contactId'],
    [{ ...right, stageId: other.stages[0].id, assignedTo: nobody, ...wrong }, 400, 'assignedTo'],
    [{ ...right, stageId: nobody, products: twice }, 400, 'products.1.id'],
    [{ ...right, stageId: other.stages[0].id, products: tooMuch }, 400, 'products'],
    [{ ...right, stageId: other.stages[0].id, ...wrong }, 400, 'customFields.size'],
    [{ ...right, stageId: nobody, ...emptied }, 404],
    [{ pipelineId: nobody, stageId: stages[0].id, ...emptied }, 404],
    [{ ...right, stageId: other.stages[0].id }, 422, 'stageId'],
    [{ ...right, ...emptied }, 422, 'customFields.size'],
  ];
  return { right, other, turns };
}

describe('a deal', () => {
  it('that is made is refused for its references and values (400) before its stage (404, 422)', async () => {
    const { turns } = await faulty();
    await refusedInTurn(
      'POST',
      '/deals',
      turns.map(([body, ...why]) => [{ title: 'a', ...body }, ...why]),
    );
  });

  it('that is changed is refused for itself (404), then for references, values and afterDealId (400), then for its stage (404, 422)', async () => {
    const { right, other, turns } = await faulty();
    const deal = dataOf(await acme.owner.post('/deals', { title: 'a', ...right, ...missing }));
    const path = `/deals/${deal.id}`;
    await refusedInTurn('PATCH', path, turns);
    await refusedInTurn('PATCH', path, [
      [{ pipelineId: other.id, contactId: nobody }, 400, 'contactId'],
      [{ pipelineId: other.id, afterDealId: nobody }, 400, 'afterDealId'],
      [{ stageId: nobody, afterDealId: nobody }, 400, 'afterDealId'],
      [{ stageId: other.stages[0].id, afterDealId: nobody }, 400, 'afterDealId'],
      [{ pipelineId: other.id }, 422, 'stageId'],
      [{ ...emptied, afterDealId: nobody }, 400, 'afterDealId'],
    ]);
    await refusedInTurn('PATCH', `/deals/${nobody}`, [[{ contactId: nobody, stageId: nobody, afterDealId: nobody, ...wrong }, 404]]);
  });

  it('that is moved is refused for afterId (400) before its stage (404)', async () => {
    const { right } = await faulty();
    const { id } = dataOf(await acme.owner.post('/deals', { title: 'a', ...right, ...missing }));
    const move = (variables: Record<string, unknown>) =>
      acme.owner.gql(
        'mutation ($id: ID!, $stageId: ID!, $afterId: ID) { moveDeal(id: $id, stageId: $stageId, afterId: $afterId) { id } }',
        variables,
      );
    expectGraphQLRefusal(await move({ id, stageId: nobody, afterId: nobody }), 400, 'afterId');
    expectGraphQLRefusal(await move({ id, stageId: nobody }), 404);
    expectGraphQLRefusal(await move({ id: nobody, stageId: nobody, afterId: nobody }), 404);
  });
});

describe('an invoice', () => {
  const lines = (...fields: object[]) => ({
    items: fields.map((field) => ({ description: 'Work', quantity: 1, unitPrice: 100, ...field })),
  });
  const wrongFirst = (taken: string): [object, number, string][] => [
    [{ contactId: nobody }, 400, 'contactId'],
    [lines({ productId: nobody }), 400, 'items.0.productId'],
    [lines({ quantity: '9999999999', unitPrice: '9999999999' }), 400, 'items'],
    [{ invoiceNumber: taken }, 400, 'invoiceNumber'],
  ];

  it('that is no draft any more is refused for what is wrong with the change (400) before that (409)', async () => {
    const [sent, voided, other] = [await acme.invoice(), await acme.invoice(), await acme.invoice()];
    dataOf(await acme.owner.post(`/invoices/${sent.id}/send`));
    dataOf(await acme.owner.post(`/invoices/${voided.id}/void`));
    for (const { id } of [sent, voided]) {
      await refusedInTurn('PATCH', `/invoices/${id}`, wrongFirst(other.invoiceNumber));
      await refusedInTurn('PATCH', `/invoices/${id}`, [
        [lines({}), 409, 'status'],
        [{ notes: 'Late' }, 409, 'status'],
        [{}, 409, 'status'],
      ]);
    }
    await refusedInTurn('PATCH', `/invoices/${nobody}`, [[{ contactId: nobody }, 404]]);
  });

  it('that money was received for is refused for what is wrong with the change (400) before its currency (409)', async () => {
    const [{ id, currency }, other] = [await acme.invoice({ currency: 'USD' }), await acme.invoice()];
    dataOf(await acme.owner.post(`/invoices/${id}/payments`, { amount: 50 }));
    expect(currency).toBe('USD');
    const turns = wrongFirst(other.invoiceNumber).map(([body, ...why]): [object, number, string] => [{ currency: 'JPY', ...body }, ...why]);
    await refusedInTurn('PATCH', `/invoices/${id}`, turns);
    await refusedInTurn('PATCH', `/invoices/${id}`, [[{ currency: 'JPY' }, 409, 'currency']]);
  });
});

describe('of tags of a contact', () => {
  it('an unknown contact is told (404) before unknown tags (400 where they are added, 404 where one is taken off)', async () => {
    const { id } = await acme.contact({ firstName: 'Ada' });
    const [tag, unknown] = [await acme.tag(), { tagIds: [nobody] }];
    const missedBy = async (method: string, path: string, body?: object) => {
      const reply = await acme.owner.send(method, path, body);
      expectRefusal(reply, 404);
      return reply.body.error;
    };
    for (const tagId of [nobody, tag.id]) {
      expect(await missedBy('POST', `/contacts/${nobody}/tags`, { tagIds: [tagId] })).toBe('Contact not found');
      expect(await missedBy('DELETE', `/contacts/${nobody}/tags/${tagId}`)).toBe('Contact not found');
    }
    expect(await missedBy('DELETE', `/contacts/${id}/tags/${nobody}`)).toBe('Tag not found');
    await refusedInTurn('POST', `/contacts/${id}/tags`, [[unknown, 400, 'tagIds.0']]);
  });
});
