import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Reply, server, type TestServer } from '../support/index.js';
import { Receiver } from '../support/receiver.js';
import { answerFaultsOf, expectPublished } from './published.js';

let api: TestServer;
let acme: Account;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.open((_request, response) => void response.writeHead(404).end());
  api = await server();
  acme = await api.seed.account();
});
afterAll(async () => {
  await api.close();
  await receiver.close();
});

const made = async (path: string, body: object) => dataOf(await acme.owner.post(path, body)).id as string;

const aField = () =>
  made('/custom-fields', {
    entityType: 'contact',
    fieldKey: `key${crypto.randomUUID().replaceAll('-', '')}`,
    label: 'Tier',
    fieldType: 'text',
  });

async function usedTemplate() {
  const id = await made('/emails/templates', { name: 'Used', channel: 'email', subject: 'Hello', body: 'Hello' });
  await made('/emails/sequences', { name: 'Uses it', steps: [{ templateId: id, delayDays: 1 }] });
  return id;
}

async function fieldWithValues() {
  const id = await aField();
  const { fieldKey } = dataOf(await acme.owner.get(`/custom-fields/${id}`));
  await acme.contact({ firstName: 'Ada', customFields: { [fieldKey]: 'gold' } });
  return id;
}

async function publishedFlow(): Promise<Reply> {
  const { id, updatedAt } = dataOf(await acme.owner.post('/call-flows', { name: 'Without a number' }));
  return acme.owner.post(`/call-flows/${id}/publish`, { expectedUpdatedAt: updatedAt });
}

type Case = [address: string, status: number, member: string, refused: () => Promise<Reply>];

/** What an error must tell. */
const always: Case[] = [
  ['DELETE /custom-fields/{id}', 409, 'impact', async () => acme.owner.del(`/custom-fields/${await fieldWithValues()}`)],
  ['DELETE /emails/templates/{id}', 409, 'uses', async () => acme.owner.del(`/emails/templates/${await usedTemplate()}`)],
  [
    'POST /webhooks/manage/{id}/test',
    502,
    'responseTime',
    async () => {
      const id = await made('/webhooks/manage', { url: receiver.url, events: ['test.ping'] });
      return acme.owner.post(`/webhooks/manage/${id}/test`);
    },
  ],
];

/** What an error tells for some of its reasons. */
const sometimes: Case[] = [
  ['POST /call-flows/{id}/publish', 422, 'blockers', publishedFlow],
  [
    'POST /automations/{id}/publish',
    422,
    'blockers',
    async () => acme.owner.post(`/automations/${await made('/automations', { name: 'Empty' })}/publish`),
  ],
  [
    'PATCH /custom-fields/{id}',
    422,
    'valueCount',
    async () => acme.owner.patch(`/custom-fields/${await fieldWithValues()}`, { fieldType: 'number' }),
  ],
];

describe('the document of what an error tells besides its code', () => {
  it.each([...always, ...sometimes])('names it: %s %s %s', async (address, status, member, refused) => {
    const reply = await refused();
    expect([reply.status, reply.body]).toEqual([status, expect.objectContaining({ [member]: expect.anything() })]);
    expectPublished(address, reply);
    expect(answerFaultsOf(address, status, { ...reply.body, [member]: 'no such thing' })).toContain(member);
    const { [member]: _, ...rest } = reply.body;
    const isNeeded = always.some(([one]) => one === address);
    expect(answerFaultsOf(address, status, rest)).toEqual(isNeeded ? expect.stringContaining(member) : undefined);
  });

  it('has what refers to a field in the same form wherever it is told', async () => {
    const id = await aField();
    const { fieldKey } = dataOf(await acme.owner.get(`/custom-fields/${id}`));
    const field = `customFields.${fieldKey}`;
    const list = await made('/smart-lists', { name: 'Asks for it', filters: { field, op: 'eq', value: 'gold' } });
    const told = { dependencyCount: 1, dependencies: [{ type: 'smart_list', id: list, name: 'Asks for it' }] };
    const renamed = await acme.owner.patch(`/custom-fields/${id}`, { fieldKey: `${fieldKey}2` });
    expect(renamed.body).toMatchObject(told);
    expectPublished('PATCH /custom-fields/{id}', renamed);
    const removed = await acme.owner.del(`/custom-fields/${id}`);
    expect(removed.body.impact).toEqual({ valueCount: 0, ...told });
    expectPublished('DELETE /custom-fields/{id}', removed);
  });
});
