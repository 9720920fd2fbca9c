import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Egress } from '../../src/kernel/egress/egress.js';
import { aFlow, publish } from '../support/callFlows.js';
import {
  type Account,
  type Client,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Reply,
  server,
  type TestServer,
} from '../support/index.js';
import { freeNumber } from './samples.talk.js';

let api: TestServer;
let late: Account;
beforeAll(async () => {
  api = await server();
  late = await api.seed.account({ plan: 'trial' });
});
afterAll(() => api.close());

const url = 'http://127.0.0.1:9/';
const creates: [string, object][] = [
  ['/contacts', { firstName: 'a' }],
  ['/companies', { name: 'a' }],
  ['/pipelines', { name: 'a' }],
  ['/tasks', { title: 'a' }],
  ['/notes', { body: 'a' }],
  ['/activities', { type: 'call', title: 'a' }],
  ['/tags', { name: 'a' }],
  ['/products', { name: 'a' }],
  ['/invoices', { items: [{ description: 'a', quantity: 1, unitPrice: 1 }] }],
  ['/forms', { name: 'a' }],
  ['/smart-lists', { name: 'a', filters: { field: 'city', op: 'eq', value: 'Paris' } }],
  ['/custom-fields', { entityType: 'deal', fieldKey: 'a', label: 'a', fieldType: 'text' }],
  ['/imports', { rows: [{ firstName: 'a' }] }],
  ['/users/invite', { email: 'late@example.com' }],
  ['/webhooks/manage', { url, events: ['*'] }],
  ['/api-keys', { name: 'late', permission: 'read' }],
];

/** What makes something inside of something else: an address and a body, of what was there before the trial ended. */
async function nested(account: Account): Promise<[method: string, path: string, body: object][]> {
  const { id: contactId } = await account.contact({ firstName: 'Ada' });
  const pipeline = await account.pipeline();
  const deal = await account.deal({ pipeline });
  const invoice = await account.invoice();
  const flow = await aFlow(account, { phoneNumber: await freeNumber(account) });
  const firstName = 'Ada';
  return [
    ['POST', `/pipelines/${pipeline.id}/stages`, { name: 'Late' }],
    ['POST', '/deals', { title: 'Late', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, contactId }],
    ['POST', `/invoices/${invoice.id}/payments`, { amount: 1 }],
    ['POST', '/contact', { firstName, email: 'nobody.yet@example.com' }],
    ['PATCH', `/contacts/${contactId}`, { tags: ['never seen before'] }],
    ['POST', '/contact', { ...(await restorable(account)), tags: ['never seen before'] }],
    ['POST', '/settings/numbers', { number: await freeNumber(account) }],
    ['POST', `/call-flows/${flow.id}/publish`, { expectedUpdatedAt: flow.updatedAt }],
    ['POST', '/emails/templates/test-send', { templateId: await template(account), toEmail: 'me@example.com' }],
    ['POST', `/deals/${await deletedDeal(account, deal.id)}/restore`, {}],
  ];
}

const template = async (account: Account) =>
  dataOf(await account.owner.post('/emails/templates', { name: 'Late', channel: 'email', body: 'Hello' })).id;

/** A contact that is matched, and so only changed. */
async function restorable(account: Account) {
  const email = 'matched@example.com';
  await account.contact({ firstName: 'Bea', email });
  return { email };
}

const lastInvoice = (account: Account) => api.app.database.prisma.invoice.findFirstOrThrow({ where: { accountId: account.id } });

async function deletedDeal(account: Account, id: string): Promise<string> {
  dataOf(await account.owner.del(`/deals/${id}`));
  return id;
}

it('An expired trial lets nothing be made inside of what is there, and no tag by its name; what is wrong is told first', async () => {
  const account = await api.seed.account({ plan: 'trial' });
  const inside = await nested(account);
  await account.tag('known');
  const { id } = await account.contact({ firstName: 'Cid' });
  api.clock.advance(15 * day);
  const owner = await account.login();
  await expectNothingWritten(api, async () => {
    for (const [method, path, body] of inside) expectRefusal(await owner.send(method, path, body), 402);
  });
  const { id: invoiceId } = await lastInvoice(account);
  const items = [{ description: 'a', quantity: 1, unitPrice: 1 }];
  const nobody = '00000000-0000-7000-8000-000000000000';
  await expectNothingWritten(api, async () => {
    expectRefusal(await owner.post('/invoices', { items, contactId: nobody }), 400, 'contactId');
    expectRefusal(await owner.post(`/invoices/${invoiceId}/payments`, { amount: 100_000 }), 400, 'amount');
  });
  expect(dataOf(await owner.patch(`/contacts/${id}`, { tags: ['KNOWN'] })).tags).toMatchObject([{ name: 'known' }]);
  api.clock.reset();
});

/** What is refused for itself, trial or no trial, of what was there before it ended. */
async function wrongOnes(account: Account): Promise<[path: string, body: object, status: number, field?: string][]> {
  const nobody = '00000000-0000-7000-8000-000000000000';
  const [{ id: contactId }, pipeline] = [await account.contact({ firstName: 'Ada' }), await account.pipeline()];
  await account.tag('known');
  dataOf(await account.owner.post('/forms', { name: 'a', slug: 'known' }));
  for (const entityType of ['company', 'deal']) {
    const field = { entityType, fieldKey: 'seats', label: 'Seats', fieldType: 'number' };
    dataOf(await account.owner.post('/custom-fields', field));
  }
  const deal = { title: 'Late', pipelineId: pipeline.id, stageId: pipeline.stages[0].id };
  const other = await account.pipeline();
  const [paid, voided] = [await account.invoice(), await account.invoice()];
  dataOf(await account.owner.post(`/invoices/${paid.id}/payments`, { amount: 120 }));
  dataOf(await account.owner.post(`/invoices/${voided.id}/void`));
  const customFields = { seats: 'many' };
  return [
    ['/companies', { name: 'a', ownerId: nobody }, 400, 'ownerId'],
    ['/companies', { name: 'a', customFields }, 400, 'customFields.seats'],
    ['/deals', { ...deal, customFields }, 400, 'customFields.seats'],
    ['/deals', { ...deal, pipelineId: nobody }, 404],
    ['/deals', { ...deal, pipelineId: other.id }, 402],
    [`/invoices/${paid.id}/payments`, { amount: 1 }, 402],
    [`/invoices/${voided.id}/payments`, { amount: 1 }, 402],
    ['/tags', { name: 'KNOWN' }, 400, 'name'],
    ['/forms', { name: 'a', slug: 'known' }, 422, 'slug'],
    ['/smart-lists', { name: 'a', filters: { field: 'nothing', op: 'eq', value: 1 } }, 400],
    ['/smart-lists', { name: 'a', filters: { field: 'city', op: 'eq', value: 'Rome' }, sort: 'nothing' }, 400, 'sort'],
    ['/custom-fields', { entityType: 'deal', fieldKey: 'seats', label: 'a', fieldType: 'text' }, 422, 'fieldKey'],
    ['/custom-fields', { entityType: 'deal', fieldKey: 'b', label: 'a', fieldType: 'select' }, 422, 'options.choices'],
    ['/imports', {}, 400],
    ['/imports', { rows: [{ firstName: 'a' }], mode: 'update' }, 400, 'matchOn'],
    [`/imports/${nobody}/process`, {}, 404],
    ['/email/send', { contactId: nobody, subject: 'a', body: 'a' }, 400, 'contactId'],
    ['/email/send', { contactId, subject: 'a', body: 'a' }, 400, 'contactId'],
    ['/messages/sms/send', { contactId: nobody, body: 'a' }, 400, 'contactId'],
    ['/messages/sms/send', { contactId, body: 'a' }, 402],
    [`/pipelines/${nobody}/stages`, { name: 'a', isWon: true, isLost: true }, 404],
    [`/pipelines/${pipeline.id}/stages`, { name: 'a', isWon: true, isLost: true }, 402],
    ['/pipelines', { name: 'a', stages: [{ name: 'a', isWon: true, isLost: true }] }, 402],
    ['/webhooks/manage', { url, events: ['nothing.happened'] }, 422, 'events.0'],
    ['/webhooks/manage', { url: 'https://somebody@example.com/', events: ['*'] }, 422, 'url'],
    ['/webhooks/manage', { url, events: ['*'] }, 402],
    ['/calendars', { name: 'a', workingHours: [{ day: 'monday', opens: '17:00', closes: '09:00' }] }, 402],
  ];
}

it('After a trial what is wrong or not there is told before 402, and a rule between fields after it', async () => {
  const account = await api.seed.account({ plan: 'trial' });
  const wrong = await wrongOnes(account);
  api.clock.advance(15 * day);
  const owner = await account.login();
  await expectNothingWritten(api, async () => {
    const replies: Reply[] = [];
    for (const [path, body] of wrong) replies.push(await owner.post(path, body));
    expect(wrong.map(([path], i) => [path, replies[i]!.status])).toEqual(wrong.map(([path, , status]) => [path, status]));
    for (const [i, [, , status, field]] of wrong.entries()) expectRefusal(replies[i]!, status, field);
  });
  api.clock.reset();
});

it('After a trial a required custom field that is missing or emptied (422) is told behind 402', async () => {
  const account = await api.seed.account({ plan: 'trial' });
  const pipeline = await account.pipeline();
  for (const entityType of ['contact', 'company', 'deal']) {
    const field = { entityType, fieldKey: 'size', label: 'Size', fieldType: 'number', isRequired: true };
    dataOf(await account.owner.post('/custom-fields', field));
  }
  const { id } = await account.contact({ firstName: 'Ada', customFields: { size: 3 } });
  const [missing, emptied] = [{ customFields: {} }, { customFields: { size: null } }];
  const sent: [method: string, path: string, body: object][] = [
    ['POST', '/contacts', { firstName: 'a', ...missing }],
    ['POST', '/companies', { name: 'a', ...missing }],
    ['POST', '/deals', { title: 'a', pipelineId: pipeline.id, stageId: pipeline.stages[0].id, ...missing }],
    ['PATCH', `/contacts/${id}`, { tags: ['never seen before'], ...emptied }],
  ];
  const refused = (owner: Client, status: number, field?: string) =>
    expectNothingWritten(api, async () => {
      for (const [method, path, body] of sent) expectRefusal(await owner.send(method, path, body), status, field);
    });
  await refused(account.owner, 422, 'customFields.size');
  api.clock.advance(15 * day);
  await refused(await account.login(), 402);
  api.clock.reset();
});

it('An expired trial answers 402 on every create; reads stay', async () => {
  api.clock.advance(15 * day);
  const owner = await late.login();
  await expectNothingWritten(api, async () => {
    for (const [path, body] of creates) expectRefusal(await owner.post(path, body), 402);
  });
  for (const path of ['/contacts', '/tasks', '/notes', '/tags']) expect((await owner.get(path)).status).toBe(200);
  api.clock.reset();
});

it('After a trial nobody has the name of a webhook looked up: 402 comes before that, behind what is wrong by itself', async () => {
  const account = await api.seed.account({ plan: 'trial' });
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return ['10.0.0.1'];
  };
  const { egress } = api.app;
  const watched = new Egress({ allowPrivate: false, publicUrl: 'https://crm.example.com', resolve });
  Object.assign(api.app, { egress: watched });
  const send = (caller: Client, address: string) => caller.post('/webhooks/manage', { url: address, events: ['*'] });
  expectRefusal(await send(account.owner, 'https://hooks.example.com/'), 422, 'url');
  expect(asked).toEqual(['hooks.example.com']);
  api.clock.advance(15 * day);
  const owner = await account.login();
  expectRefusal(await send(owner, 'https://10.0.0.1/'), 422, 'url');
  expectRefusal(await send(owner, 'https://hooks.example.com/'), 402);
  expect(asked).toEqual(['hooks.example.com']);
  api.clock.reset();
  Object.assign(api.app, { egress });
  await watched.close();
});

it('After a trial a flow is published on a number that the workspace has, and 402 comes before 409 and 422 on one that it has not', async () => {
  const account = await api.seed.account({ plan: 'trial' });
  const number = await freeNumber(account);
  dataOf(await account.owner.post('/settings/numbers', { number }));
  const known = await aFlow(account, { phoneNumber: number });
  const draftGraph = { entryId: 'in', nodes: [{ id: 'in', kind: 'entry', next: null }] };
  const [late, nowhere] = [
    await aFlow(account, { phoneNumber: await freeNumber(account), draftGraph }),
    await aFlow(account, { draftGraph }),
  ];
  api.clock.advance(15 * day);
  const expired = { ...account, owner: await account.login() } as Account;
  expectRefusal(await publish(expired, { ...late, updatedAt: '2020-01-01T00:00:00Z' }), 402);
  expectRefusal(await publish(expired, late), 402);
  expectRefusal(await publish(expired, nowhere), 422);
  expect(dataOf(await publish(expired, known)).wiring.wired).toBe(true);
  api.clock.reset();
});
