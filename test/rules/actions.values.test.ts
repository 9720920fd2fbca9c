import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { aNode } from '../support/automations.js';
import { acme, served } from '../support/automationsServed.js';
import { dataOf, day, expectRefusal, hour, type Loose } from '../support/index.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

served();

const nobody = '01a203c7-84ea-7517-9bbe-8a3176038ded';
const setting = (config: object) => ({ type: 'update_field', config });
const refusalOf = async (config: object) => {
  const body = { name: 'W', trigger: { event: 'contact.created' }, actions: [setting(config)] };
  const reply = await acme.owner.post('/workflows', body);
  expectRefusal(reply, 400, 'actions.0.config.value');
  return reply.body.details[0];
};
const blockersOf = async (config: object): Promise<Loose[]> => {
  const nodes = [aNode('set', 'action', setting(config), 'end'), aNode('end', 'end')];
  const { id } = dataOf(await acme.owner.post('/automations', { name: 'A', graph: { startNodeId: 'set', nodes } }));
  return (await acme.owner.post(`/automations/${id}/publish`)).body.blockers;
};

/** The only action of the run that a new contact of this name starts. */
async function doneFor(contact: Loose, config: object): Promise<Loose & { contact: Loose }> {
  const trigger = { event: 'contact.created', conditions: { jobTitle: contact.jobTitle } };
  const workflow = await activeWorkflow(acme, { trigger, actions: [setting(config)] });
  const { id } = await acme.contact(contact);
  const [run] = await endedRuns(acme, workflow);
  dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  return { ...run!.actions[0], contact: dataOf(await acme.owner.get(`/contacts/${id}`)) };
}

describe('a value that an action sets', () => {
  it.each([
    ['one word for all tags', { field: 'tags', value: 'one,two' }, 'invalid_type'],
    ['a merge field for all tags', { field: 'tags', value: '{{contact.source}}' }, 'invalid_type'],
    ['a truth value as a text', { field: 'doNotContact', value: 'true' }, 'invalid_type'],
    ['a user who is not there', { field: 'assignedTo', value: nobody }, 'not_found'],
    ['a company that is not there', { field: 'companyId', value: nobody }, 'not_found'],
    ['a stage that is not there', { entity: 'deal', field: 'stageId', value: nobody }, 'not_found'],
    ['a pipeline that is not there', { entity: 'deal', field: 'pipelineId', value: nobody }, 'not_found'],
    ['a contact who is not there', { entity: 'task', field: 'contactId', value: nobody }, 'not_found'],
    ['an owner who is not there', { entity: 'company', field: 'ownerId', value: nobody }, 'not_found'],
    ['an amount that JSON does not carry exactly', { entity: 'deal', field: 'value', value: 90071992547409.94 }, 'invalid_format'],
    ['a merge field that there is not', { field: 'email', value: '{{contact.nope}}' }, 'not_allowed'],
    ['a merge field of nothing', { field: 'email', value: ' {{nobody.email}} ' }, 'not_allowed'],
  ])('is refused as in a PATCH, and stands against publishing: %s', async (_what, config, code) => {
    expect((await refusalOf(config)).code).toBe(code);
    expect(await blockersOf(config)).toMatchObject([
      { nodeId: 'set', code: 'bad_action', message: expect.stringMatching(/^config\.value /) },
    ]);
  });

  it('is refused where it is none of a custom field', async () => {
    const field = { entityType: 'contact', fieldKey: 'age', label: 'Age', fieldType: 'number' };
    const { id } = dataOf(await acme.owner.post('/custom-fields', field));
    expect((await refusalOf({ field: 'customFields.age', value: 'abc' })).message).toBe('must be a number');
    expect((await refusalOf({ field: 'customFields', value: { age: 'abc' } })).message).toBe('must be a number');
    expect(await blockersOf({ field: 'customFields.age', value: 'abc' })).toMatchObject([{ code: 'bad_action' }]);
    const set = await doneFor({ firstName: 'A', jobTitle: 'aged' }, { field: 'customFields.age', value: 7 });
    expect(set).toMatchObject({ status: 'success', result: { newValue: 7 }, contact: { customFields: { age: 7 } } });
    const wrong = await doneFor({ firstName: 'A', jobTitle: 'ageless' }, { field: 'customFields.age', value: '{{contact.firstName}}' });
    expect(wrong).toMatchObject({ status: 'failed', error: 'invalid_request: customFields.age must be a number' });
    await acme.owner.post(`/custom-fields/${id}/delete`, {});
  });

  it('is taken where it is right', async () => {
    const { id: stageId } = (await acme.pipeline()).stages[0]!;
    const right = [
      { field: 'tags', value: ['one', 'two'] },
      { field: 'assignedTo', value: acme.ownerId.toUpperCase() },
      { field: 'assignedTo', value: '' },
      { field: 'assignedTo', value: null },
      { field: 'assignedTo', value: '{{deal.assignedTo}}' },
      { field: 'doNotContact', value: '{{record.data.agreed}}' },
      ...['workspace.name', 'event.createdAt', 'workflow.name', 'automation.id', 'contact.customFields.seat', 'changes.city.from'].map(
        (path) => ({
          ...{ field: 'source', value: `{{${path}}}` },
        }),
      ),
      { entity: 'deal', field: 'stageId', value: stageId },
      { entity: 'deal', field: 'value', value: '12.50' },
      { entity: 'task', field: 'dueDate', value: '2027-01-31' },
    ];
    const body = { name: 'W', trigger: { event: 'contact.created' }, actions: right.map(setting) };
    dataOf(await acme.owner.post('/workflows', body));
  });
});

describe('a value with merge fields', () => {
  it('fills the texts of a list', async () => {
    const done = await doneFor({ jobTitle: 'list', source: 'web', firstName: 'A' }, { field: 'tags', value: ['via {{contact.source}}'] });
    expect(done).toMatchObject({ status: 'success', result: { newValue: ['via web'] } });
    expect(done.contact.tags.map(({ name }: Loose) => name)).toEqual(['via web']);
  });

  it('clears the field where it is empty, and says so', async () => {
    const done = await doneFor({ jobTitle: 'clears', source: 'web', firstName: 'A' }, { field: 'source', value: '{{contact.lastName}}' });
    expect(done).toMatchObject({ status: 'success', result: { newValue: null }, contact: { source: null } });
  });

  it('is kept as what it spells, and says so', async () => {
    const done = await doneFor(
      { jobTitle: 'spells', firstName: 'A', customFields: { agreed: true } },
      { field: 'doNotContact', value: '{{contact.customFields.agreed}}' },
    );
    expect(done).toMatchObject({ status: 'success', result: { newValue: true }, contact: { doNotContact: true } });
  });

  it('fails the action where it names what this run has not, or is none of the field, and changes nothing', async () => {
    const person = { jobTitle: 'keeps', firstName: 'A', email: 'keeps@example.com' };
    const named = await doneFor(person, { field: 'email', value: '{{record.nope}}' });
    expect(named).toMatchObject({ status: 'failed', error: 'invalid_request: email names a merge field that is not there: record.nope' });
    expect(named.contact.email).toBe('keeps@example.com');
    const wrong = await doneFor({ ...person, jobTitle: 'keeps too' }, { field: 'doNotContact', value: '{{contact.firstName}}' });
    expect(wrong).toMatchObject({ status: 'failed', error: 'invalid_request: doNotContact must be true or false' });
  });
});

/** Defines a custom field of contacts; answers its id. */
const defined = async (fieldKey: string, fieldType: string, more: Loose = {}): Promise<string> =>
  dataOf(await acme.owner.post('/custom-fields', { entityType: 'contact', fieldKey, label: fieldKey, fieldType, ...more })).id;

describe('a custom field that is set by one merge field alone', () => {
  let made: string[] = [];
  beforeAll(async () => {
    const choices = { options: { choices: ['golf', 'wine', 'opera'] } };
    made = [await defined('likes', 'multiselect', choices), await defined('tasted', 'multiselect', choices)];
    made.push(await defined('consents', 'boolean'), await defined('score', 'number'), await defined('code', 'text'));
  });
  afterAll(async () => {
    for (const id of made) await acme.owner.post(`/custom-fields/${id}/delete`, {});
  });

  it.each([
    [
      'a list of choices',
      { customFields: { likes: ['golf', 'wine'], tasted: ['opera'] } },
      'tasted',
      'customFields.likes',
      ['golf', 'wine'],
    ],
    ['a truth value', { doNotContact: true }, 'consents', 'doNotContact', true],
    ['a number', { customFields: { points: 1200 } }, 'score', 'customFields.points', 1200],
    ['a number that is a text there', { customFields: { points: 1200 } }, 'code', 'customFields.points', '1200'],
  ])('is what that names, as its definition takes it: %s', async (what, fields, key, path, value) => {
    const contact = { firstName: 'A', jobTitle: `whole ${what}`, ...fields };
    const done = await doneFor(contact, { field: `customFields.${key}`, value: `{{contact.${path}}}` });
    expect(done).toMatchObject({ status: 'success', result: { newValue: value } });
    expect(done.contact.customFields[key]).toEqual(value);
  });

  it('is cleared by a list that is empty or not there', async () => {
    const contact = { firstName: 'A', jobTitle: 'whole none', customFields: { tasted: ['opera'] } };
    const done = await doneFor(contact, { field: 'customFields.tasted', value: '{{contact.customFields.likes}}' });
    expect(done).toMatchObject({ status: 'success', result: { newValue: null } });
    expect(done.contact.customFields.tasted).toBeUndefined();
  });

  it('fails where that is an object, as a text does by any list, and loses nothing', async () => {
    const contact = { firstName: 'A', source: 'web', customFields: { likes: ['golf'], tasted: ['opera'] } };
    const named = 'does not take the list or the object that a merge field names: contact.customFields';
    const whole = await doneFor({ ...contact, jobTitle: 'object' }, { field: 'customFields.tasted', value: '{{contact.customFields}}' });
    expect(whole).toMatchObject({ status: 'failed', error: `invalid_request: customFields.tasted ${named}` });
    expect(whole.contact.customFields.tasted).toEqual(['opera']);
    const text = await doneFor({ ...contact, jobTitle: 'list' }, { field: 'source', value: '{{contact.customFields.likes}}' });
    expect(text).toMatchObject({ status: 'failed', error: `invalid_request: source ${named}.likes` });
    expect(text.contact.source).toBe('web');
  });
});

it('of a workflow from before, what is no list of tags fails and leaves them', async () => {
  const trigger = { event: 'contact.created', conditions: { jobTitle: 'before' } };
  const workflow = await activeWorkflow(acme, { trigger, actions: [setting({ field: 'tags', value: ['x'] })] });
  const actions = JSON.stringify([setting({ field: 'tags', value: 'one,two' })]);
  await acme.seed.app.database.execute(`update workflows set actions = '${actions}' where id = '${workflow.id}'`);
  const { id } = await acme.contact({ firstName: 'A', jobTitle: 'before', tags: ['kept'] });
  const [run] = await endedRuns(acme, workflow);
  expect(run!.actions).toMatchObject([{ status: 'failed', error: 'invalid_request: tags must be a list' }]);
  expect(dataOf(await acme.owner.get(`/contacts/${id}`)).tags).toMatchObject([{ name: 'kept' }]);
});

describe('a text that an action cannot do without', () => {
  const empty = '{{contact.lastName}}';
  const noValues = 'must not be empty: its merge fields have no values here';
  it.each([
    ['subject', { type: 'send_email', config: { subject: ` ${empty} `, body: 'B' } }],
    ['body', { type: 'send_email', config: { subject: 'S', body: empty } }],
    ['title', { type: 'create_task', config: { title: empty } }],
  ])('fails the action where its merge fields leave nothing of it: the %s', async (field, action) => {
    const jobTitle = `without ${field}`;
    const trigger = { event: 'contact.created', conditions: { jobTitle } };
    const workflow = await activeWorkflow(acme, { trigger, actions: [action] });
    const { id } = await acme.contact({ firstName: 'A', jobTitle, email: `${field}@example.com` });
    const [run] = await endedRuns(acme, workflow);
    expect(run).toMatchObject({ status: 'failed', error: `invalid_request: ${field} ${noValues}` });
    expect(dataOf(await acme.owner.get(`/messages?contact_id=${id}`)).data).toEqual([]);
    expect(dataOf(await acme.owner.get(`/tasks?contact_id=${id}`)).data).toEqual([]);
  });
});

it('an e-mail whose template has a subject is not sent under the name of the template where nothing is left of it', async () => {
  const mail = { name: 'Ours alone', channel: 'email', subject: '{{contact.lastName}}', body: 'B' };
  const { id: templateId } = dataOf(await acme.owner.post('/emails/templates', mail));
  const trigger = { event: 'contact.created', conditions: { jobTitle: 'by template' } };
  const workflow = await activeWorkflow(acme, { trigger, actions: [{ type: 'send_email', config: { templateId } }] });
  const { id } = await acme.contact({ firstName: 'A', jobTitle: 'by template', email: 'by.template@example.com' });
  const [run] = await endedRuns(acme, workflow);
  expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(/^invalid_request: subject must not be empty/) });
  expect(dataOf(await acme.owner.get(`/messages?contact_id=${id}`)).data).toEqual([]);
});

it('a task that is due in so many days is due at the end of that day in the workspace', async () => {
  dataOf(await acme.owner.patch('/settings/workspace', { timezone: 'Asia/Tokyo' }));
  const task = (dueInDays: number) => ({ type: 'create_task', config: { title: 'T', dueInDays } });
  const trigger = { event: 'contact.created', conditions: { jobTitle: 'due' } };
  const workflow = await activeWorkflow(acme, { trigger, actions: [task(0), task(2)] });
  await acme.contact({ firstName: 'A', jobTitle: 'due' });
  const [run] = await endedRuns(acme, workflow);
  const inTokyo = (at: string, days = 0) => new Date(Date.parse(at) + 9 * hour + days * day).toISOString();
  const ends = [0, 2].map((days) => `${inTokyo(run!.actions[0].executedAt, days).slice(0, 10)}T23:59:59.999Z`);
  expect(run!.actions.map(({ result }: Loose) => inTokyo(result.dueDate))).toEqual(ends);
});
