import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const url = 'https://127.0.0.1:1/x';

describe('what placeholders name that cannot be printed', () => {
  const nothing = [
    ...['record', 'record.tags', 'record.customFields', 'contact.customFields.size', 'record.jobTitle', 'record.nobody', 'nobody.name'],
    ...['record.__proto__', 'record.constructor.name', 'contact.toString', 'record.firstName.length', 'changes.city.to', 'a.b.c.d.e'],
  ];
  const payload = Object.fromEntries(nothing.map((path, nth) => [`n${nth}`, `<{{${path}}}>`]));

  it('is left empty in a payload, and the rest is filled in', async () => {
    const given = { text: '{{record.firstName}}', nth: '{{record.score}}', list: ['{{workspace.name}}', 7, null, true] };
    const actions = [{ type: 'send_webhook', config: { url, payload: { ...payload, ...given } } }];
    const trigger = { event: 'contact.created', conditions: { lastName: 'Printed' } };
    const workflow = await activeWorkflow(acme, { trigger, actions });
    await acme.contact({ firstName: '{{contact.email}} "\\ \u0007', lastName: 'Printed', email: 'ada@printed.example' });
    const [run] = await endedRuns(acme, workflow);
    expect(run).toMatchObject({ status: 'success', error: null });
    const ask = `{ webhookDeliveries(filter: { sourceId: "${workflow.id}" }) { nodes { payload } } }`;
    const [sent] = (await (await acme.key()).gql(ask)).data.webhookDeliveries.nodes;
    const { text, nth, list, ...empty } = sent.payload;
    // One of more than four names is no placeholder, and stays as it is; one name alone is a field of the contact.
    const kept = (path: string) => path === 'a.b.c.d.e';
    expect(Object.values(empty)).toEqual(nothing.map((path) => (kept(path) ? `<{{${path}}}>` : '<>')));
    // A value that looks like a placeholder is not filled in again.
    expect(text).toMatch(/^\{\{contact\.email\}\} "\\/);
    expect(nth).toMatch(/^\d*$/);
    expect(list).toEqual([expect.any(String), 7, null, true]);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });

  it('leaves out of the texts of a task what is no plain value', async () => {
    const actions = [{ type: 'create_task', config: { title: 'Of {{record.tags}}', description: '{{record.customFields}}' } }];
    const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created', conditions: { lastName: 'Tasked' } }, actions });
    const { id } = await acme.contact({ firstName: 'Ada', lastName: 'Tasked' });
    await endedRuns(acme, workflow);
    const { data } = dataOf(await acme.owner.get(`/tasks?contact_id=${id}`));
    expect((data as Loose[]).map(({ title, description }) => [title, description])).toEqual([['Of', null]]);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });
});

it('a list of plain values that a member of a payload names alone is a list there', async () => {
  const given = {
    likes: '{{record.customFields.likes}}',
    within: 'Likes: {{record.customFields.likes}}',
    age: '{{contact.customFields.age}}',
  };
  const actions = [{ type: 'send_webhook', config: { url, payload: given } }];
  const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created', conditions: { lastName: 'Listed' } }, actions });
  await acme.contact({ firstName: 'Ada', lastName: 'Listed', customFields: { likes: ['golf', 'wine'], age: 7 } });
  const [run] = await endedRuns(acme, workflow);
  expect(run).toMatchObject({ status: 'success', error: null });
  const ask = `{ webhookDeliveries(filter: { sourceId: "${workflow.id}" }) { nodes { payload } } }`;
  const [sent] = (await (await acme.key()).gql(ask)).data.webhookDeliveries.nodes;
  expect(sent.payload).toEqual({ likes: ['golf', 'wine'], within: 'Likes: ', age: '7' });
  dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
});
