import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';

/*
 * Names that a client chooses may be those of what every object inherits: `constructor`, `toString`, `__defineGetter__`. Nothing is
 * found under them but what the client put there.
 */

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

it('options of a custom field are kept under any name', async () => {
  const options = { choices: ['a'], __defineGetter__: 1, toString: '', constructor: { of: 'nothing' } };
  const body = { entityType: 'contact', fieldKey: 'inherited', label: 'Inherited', fieldType: 'select', options };
  const reply = await acme.owner.post('/custom-fields', body);
  expect([reply.status, reply.body.data.options]).toEqual([201, options]);
});

it('a field of a form that was left empty says nothing of a person', async () => {
  const fields = [
    { key: 'constructor', label: 'E-mail', type: 'email' },
    { key: 'name', label: 'Name', type: 'text' },
  ];
  const form = dataOf(await acme.owner.post('/forms', { name: 'Inherited', fields }));
  for (const name of ['Ada Lovelace', 'Grace Hopper']) {
    const reply = await api.anybody().post(`/forms/${form.id}/submit`, { data: { name } });
    expect([reply.status, reply.text]).toEqual([expect.any(Number), expect.not.stringContaining('native code')]);
    expect(reply.status).toBeLessThan(300);
  }
  const found = dataOf(await acme.owner.get('/contacts?limit=100')).data as Loose[];
  expect(found.filter(({ email }) => String(email).includes('function'))).toEqual([]);
});

it('a permission of a key is one of those that there are', async () => {
  const key = dataOf(await acme.owner.post('/api-keys', { name: 'key', permission: 'read' }));
  const { id } = key.apiKey ?? key;
  for (const permission of ['toString', 'constructor']) {
    expectRefusal(await acme.owner.patch(`/api-keys/${id}`, { permission }), 400, 'permission');
  }
});

it('changes of custom fields tell what was there before', async () => {
  const contact = await acme.contact();
  await acme.owner.patch(`/contacts/${contact.id}`, { customFields: { toString: 'x' } });
  const entries = dataOf(await acme.owner.get(`/activities?type=contact.updated&contact_id=${contact.id}`)).data as Loose[];
  expect(entries[0]!.changes).toEqual({ 'customFields.toString': { from: null, to: 'x' } });
});

it('variables that are left out have their defaults', async () => {
  const document =
    'query ($constructor: Int = 1, $toString: String = "x") { contacts(first: $constructor, filter: { search: $toString }) { nodes { id } } }';
  const { data, errors } = await acme.owner.gql(document);
  expect([errors, data]).toEqual([undefined, { contacts: { nodes: expect.any(Array) } }]);
});
