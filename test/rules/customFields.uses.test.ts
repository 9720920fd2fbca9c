import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Automations, aNode, aTask } from '../support/automations.js';
import { importsBy } from '../support/imports.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer, toldIn } from '../support/index.js';
import { aStep, Sequences } from '../support/sequences.js';

let api: TestServer;
let acme: Account;
let automations: Automations;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
});
afterAll(() => api.close());

let n = 0;
/** A field of contacts with a key of its own. */
const field = async (fields: Loose = {}): Promise<Loose> =>
  dataOf(
    await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey: `tier${++n}`, label: 'Tier', fieldType: 'text', ...fields }),
  );

/** What the preflight of the deletion names. */
async function namedFor({ id }: Loose): Promise<string[]> {
  const { status, body } = await acme.owner.del(`/custom-fields/${id}`);
  expect([status, body.code]).toEqual([409, 'impact_confirmation_required']);
  expect(body.impact.dependencyCount).toBe(body.impact.dependencies.length);
  return body.impact.dependencies.map((one: Loose) => `${one.type} ${one.name}`);
}

const setting = (key: string, config: Loose = {}) => ({
  type: 'update_field',
  config: { field: `customFields.${key}`, value: 'b', ...config },
});

describe('a published automation whose draft names a custom field no longer', () => {
  const draft = { graph: { startNodeId: 'other', nodes: [aTask('other')] } };

  it('refers to it as long as runs begin by what was published', async () => {
    const tier = await field();
    const id = await automations.make([aNode('set', 'action', setting(tier.fieldKey))], { name: 'Nurture' });
    dataOf(await automations.key.patch(`/automations/${id}`, draft));
    expect(await namedFor(tier)).toEqual(['automation Nurture']);
    const renamed = await acme.owner.patch(`/custom-fields/${tier.id}`, { fieldKey: `${tier.fieldKey}_new` });
    expectRefusal(renamed, 422, 'fieldKey');
    expect(renamed.body.dependencyCount).toBe(1);
    dataOf(await automations.key.post(`/automations/${id}/publish`));
    dataOf(await acme.owner.del(`/custom-fields/${tier.id}`));
  });

  it('refers to it as long as a run goes by what was published before', async () => {
    const tier = await field();
    const waiting = aNode('wait', 'wait', { days: 1 }, 'set');
    const id = await automations.make([waiting, aNode('set', 'action', setting(tier.fieldKey))], { name: 'Slow' });
    const [run] = await automations.enroll(id, await automations.contact());
    await automations.until(run!, 'waiting');
    dataOf(await automations.key.patch(`/automations/${id}`, draft));
    dataOf(await automations.key.post(`/automations/${id}/publish`));
    expect(await namedFor(tier)).toEqual(['automation Slow']);
    await api.app.database.execute("update automation_runs set status = 'success', due_at = null, wait_until = null where id = $1", [run]);
    dataOf(await acme.owner.del(`/custom-fields/${tier.id}`));
  });
});

/** A field of contacts and one of deals, of one key. */
async function twoFields() {
  const contact = await field();
  const key: string = contact.fieldKey;
  return { key, contact, deal: await field({ entityType: 'deal', fieldKey: key }) };
}

describe('a field of contacts and one of deals that have the same key', () => {
  const aTitle = (title: string) => ({ title });
  const aWorkflow = async (name: string, event: string, config: Loose, conditions?: Loose) => {
    const actions = [{ type: config.field ? 'update_field' : 'create_task', config }];
    dataOf(await acme.owner.post('/workflows', { name, trigger: { event, ...(conditions && { conditions }) }, actions }));
  };

  it('are told apart in workflows, by the record that an action sets', async () => {
    const { key, contact, deal } = await twoFields();
    await aWorkflow('Sets one', 'deal.created', { field: `customFields.${key}`, value: 'b' });
    await aWorkflow('Sets it in the whole', 'contact.created', { field: 'customFields', value: { [key]: 'b' } });
    await aWorkflow('Sets one of the deal', 'deal.created', { entity: 'deal', field: `customFields.${key}`, value: 'b' });
    await aWorkflow('Sets the whole of the deal', 'deal.created', { entity: 'deal', field: 'customFields', value: { [key]: 'b' } });
    await aWorkflow('Sets another', 'deal.created', { field: `customFields.${key}_2`, value: key });
    expect(await namedFor(contact)).toEqual(['workflow Sets it in the whole', 'workflow Sets one']);
    expect(await namedFor(deal)).toEqual(['workflow Sets one of the deal', 'workflow Sets the whole of the deal']);
  });

  it('are told apart in workflows, by the record that conditions and merge fields are about', async () => {
    const { key, contact, deal } = await twoFields();
    const path = `customFields.${key}`;
    await aWorkflow('Asks for a change', 'contact.updated', aTitle('Call'), { [`changes.${path}.to`]: 'gold' });
    await aWorkflow('Says it of the record', 'contact.created', aTitle(`Call the {{record.${path}}} one`));
    await aWorkflow('Says it of the contact', 'deal.created', aTitle(`{{contact.${path}}}`));
    await aWorkflow('Asks for the deal', 'deal.updated', aTitle('Call'), { field: path, op: 'eq', value: 'gold' });
    await aWorkflow('Says it of the deal', 'deal.won', aTitle(`{{ record.${path} }}`));
    await aWorkflow('Says another', 'contact.created', aTitle(`{{contact.${path}-2}}`));
    const ofContacts = ['Asks for a change', 'Says it of the contact', 'Says it of the record'];
    expect(await namedFor(contact)).toEqual(ofContacts.map((name) => `workflow ${name}`));
    expect(await namedFor(deal)).toEqual(['workflow Asks for the deal', 'workflow Says it of the deal']);
  });

  it('are told apart in automations, by what each node is about', async () => {
    const { key, contact, deal } = await twoFields();
    const conditions = { [`customFields.${key}`]: 'gold' };
    const aDraft = async (name: string, triggerEvent: string | null, node: Loose) =>
      dataOf(await acme.owner.post('/automations', { name, triggerEvent, graph: { startNodeId: node.id, nodes: [node] } }));
    await aDraft('For nobody', null, aNode('if', 'condition', { conditions }));
    await aDraft('Of the contact', 'deal.created', aNode('if', 'condition', { of: 'contact', conditions }));
    await aDraft(
      'Under an older name',
      'deal.created',
      aNode('set', 'action', setting(key, { field: null, fieldName: `customFields.${key}` })),
    );
    await aDraft('Of the event', 'deal.created', aNode('ways', 'branch', {}, null, [{ when: conditions, next: null }]));
    await aDraft('Of what it waits for', 'contact.created', aNode('wait', 'wait', { event: 'deal.won', conditions }));
    const ofContacts = ['For nobody', 'Of the contact', 'Under an older name'];
    expect(await namedFor(contact)).toEqual(ofContacts.map((name) => `automation ${name}`));
    expect(await namedFor(deal)).toEqual(['automation Of the event', 'automation Of what it waits for']);
  });
});

it('lists that ask for all custom fields at once refer to that of their own records', async () => {
  const { key, contact, deal } = await twoFields();
  const filters = { field: 'customFields', op: 'eq', value: { [key]: 'gold' } };
  for (const entity of ['contact', 'deal']) dataOf(await acme.owner.post('/smart-lists', { name: `Golden of ${entity}`, entity, filters }));
  expect(await namedFor(contact)).toEqual(['smart_list Golden of contact']);
  expect(await namedFor(deal)).toEqual(['smart_list Golden of deal']);
});

it('a template that says a field of the record refers to that of every kind, since any workflow may mail it', async () => {
  const { key, contact, deal } = await twoFields();
  const body = `Your tier: {{record.customFields.${key}}}`;
  dataOf(await acme.owner.post('/emails/templates', { name: 'Of the record', channel: 'email', subject: 'Hello', body }));
  for (const each of [contact, deal]) expect(await namedFor(each)).toEqual(['template Of the record']);
});

describe('a sequence that says a custom field of contacts in words of its own', () => {
  const words = ({ fieldKey }: Loose) => `Your tier: {{contact.customFields.${fieldKey}}}`;
  let sequences: Sequences;
  beforeAll(() => {
    sequences = new Sequences(acme, automations.key);
  });

  it('refers to it, in a subject or a text, and to no field of other records', async () => {
    const { key, contact, deal } = await twoFields();
    await sequences.make([aStep(0), aStep(1, { body: words(contact) })], { name: 'Welcome' });
    await sequences.make([aStep(0, { subject: words(contact) })], { name: 'Welcome back' });
    await sequences.make([aStep(0, { body: words({ fieldKey: `${key}_2` }) })], { name: 'Another' });
    expect(await namedFor(contact)).toEqual(['sequence Welcome', 'sequence Welcome back']);
    dataOf(await acme.owner.del(`/custom-fields/${deal.id}`));
  });

  it('refers to it as long as somebody still comes to a step that says it', async () => {
    const tier = await field();
    const id = await sequences.make([aStep(5, { body: words(tier) })], { name: 'Slow' });
    const [run] = await sequences.enroll(id, (await sequences.reader()).id);
    await sequences.change(id, { steps: [aStep(5)] });
    expect(await namedFor(tier)).toEqual(['sequence Slow']);
    await sequences.patchRun(run!, { status: 'cancelled', dueAt: null, nextEmailAt: null, endedAt: api.clock.now() });
    dataOf(await acme.owner.del(`/custom-fields/${tier.id}`));
  });
});

it('an import that is not completed refers to the custom fields that its columns lead to', async () => {
  const { key, contact, deal } = await twoFields();
  const { made, processed } = importsBy(() => acme.owner);
  const rows = [{ name: 'Ada', tier: 'gold' }];
  const mapping = { name: 'firstName', tier: `customFields.${key}` };
  const people = await made({ name: 'people.csv', rows, mapping });
  await made({ name: 'others.csv', rows, mapping: { ...mapping, tier: `customFields.${key}_2` } });
  await made({ rows, mapping });
  expect(await namedFor(contact)).toEqual(['import An import without a name', 'import people.csv']);
  dataOf(await acme.owner.del(`/custom-fields/${deal.id}`));
  await processed(people);
  expect(await namedFor(contact)).toEqual(['import An import without a name']);
});

describe('the key of a custom field, where an import has a column that leads to it, is changed', () => {
  const { made, processed, contactsOf } = importsBy(() => acme.owner);
  const rows = [{ name: 'Ada', tier: 'gold' }];
  const mappingTo = (key: string) => ({ name: 'firstName', tier: `customFields.${key}` });
  const newKey = ({ fieldKey }: Loose) => `${fieldKey}_new`;
  const rename = (tier: Loose) => acme.owner.patch(`/custom-fields/${tier.id}`, { fieldKey: newKey(tier) });
  const setStatus = ({ id }: Loose, status: string) =>
    api.app.database.execute('update imports set status = $2 where id = $1::uuid', [id, status]);

  it.each(['pending', 'failed'])('with that of one that is %s, which is told, and writes under the new one', async (status) => {
    const tier = await field();
    const import_ = await made({ rows, mapping: mappingTo(tier.fieldKey) });
    const other = await made({ rows, mapping: mappingTo(`${tier.fieldKey}_2`) });
    await setStatus(import_, status);
    const told = await toldIn(acme, async () => void dataOf(await rename(tier)));
    const mapping = { from: mappingTo(tier.fieldKey), to: mappingTo(newKey(tier)) };
    const events = told.rows.filter(({ name }) => name === 'import.updated');
    expect(events).toMatchObject([{ entityId: import_.id, changes: { mapping }, data: { mapping: mapping.to } }]);
    expect(dataOf(await acme.owner.get(`/imports/${other.id}`)).mapping).toEqual(other.mapping);
    await processed(import_);
    expect(await contactsOf(import_)).toMatchObject([{ firstName: 'Ada', customFields: { [newKey(tier)]: 'gold' } }]);
  });

  it('not while one is being processed', async () => {
    const tier = await field();
    const import_ = await made({ name: 'people.csv', rows, mapping: mappingTo(tier.fieldKey) });
    await setStatus(import_, 'processing');
    const refused = await rename(tier);
    expectRefusal(refused, 422, 'fieldKey');
    expect(refused.body.dependencies).toMatchObject([{ type: 'import', name: 'people.csv' }]);
    await setStatus(import_, 'pending');
    expect(dataOf(await acme.owner.get(`/imports/${import_.id}`)).mapping).toEqual(mappingTo(tier.fieldKey));
  });

  it('not where another of its columns leads to the new one already', async () => {
    const tier = await field();
    const mapping = { ...mappingTo(tier.fieldKey), other: `customFields.${newKey(tier)}` };
    await made({ rows: [{ ...rows[0], other: 'silver' }], mapping });
    expectRefusal(await rename(tier), 422, 'fieldKey');
  });

  it('not together with the records that carry it: the contacts would not have it', async () => {
    const tier = await field();
    await made({ rows, mapping: mappingTo(tier.fieldKey) });
    const patch = (changes: Loose) => acme.owner.patch(`/custom-fields/${tier.id}`, changes);
    expectRefusal(await patch({ entityType: 'deal', fieldKey: newKey(tier) }), 422, 'fieldKey');
    expectRefusal(await patch({ entityType: 'deal' }), 422, 'entityType');
  });
});

it('the key of a custom field that a list asks for is not changed together with its type either', async () => {
  const tier = await field();
  const filters = { field: `customFields.${tier.fieldKey}`, op: 'eq', value: '5' };
  dataOf(await acme.owner.post('/smart-lists', { name: 'Fives', entity: 'contact', filters }));
  const both = { fieldType: 'number', fieldKey: `${tier.fieldKey}_new` };
  expectRefusal(await acme.owner.patch(`/custom-fields/${tier.id}`, both), 422, 'fieldKey');
  dataOf(await acme.owner.patch(`/custom-fields/${tier.id}`, { fieldType: 'number' }));
});
