import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allPlaced, whileUnread } from '../support/automations.js';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const task = { type: 'create_task', config: { title: 'Call {{contact.firstName}}', dueInDays: 2 } };
const made = async (fields: object = {}): Promise<Loose> =>
  dataOf(await acme.owner.post('/workflows', { name: 'W', trigger: { event: 'contact.created' }, actions: [task], ...fields }));
const active = async (fields: object = {}): Promise<Loose> => {
  const { id } = await made(fields);
  return dataOf(await acme.owner.post(`/workflows/${id}/activate`, {}));
};
const runsOf = async ({ id }: Loose): Promise<Loose[]> => dataOf(await acme.owner.get(`/workflows/${id}/runs`)).data;
const ended = (workflow: Loose, n = 1): Promise<Loose> =>
  eventually(async () => {
    const runs = await runsOf(workflow);
    return runs.length >= n && runs.every(({ status }) => status !== 'running') && runs;
  });

describe('POST /workflows', () => {
  it('answers an inactive workflow, whatever isActive says', async () => {
    const workflow = await made({ isActive: true, description: 'x' });
    expect(workflow).toMatchObject({
      ...{ name: 'W', description: 'x', isActive: false, status: 'inactive', runCount: 0, lastRunAt: null },
      ...{ trigger: { event: 'contact.created', conditions: null }, actions: [task], createdBy: acme.ownerId },
    });
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ trigger: { event: 'moon.risen' } }, 'trigger.event'],
    [{ trigger: { event: 'workflow_run.created' } }, 'trigger.event'],
    [{ trigger: { event: 'automation_run.updated' } }, 'trigger.event'],
    [{ trigger: { event: 'contact.created', conditions: { colour: 'red' } } }, 'trigger.conditions.colour'],
    [{ actions: [{ type: 'dance' }] }, 'actions.0.type'],
    [{ actions: [task, { type: 'send_email', config: {} }] }, 'actions.1.config.templateId'],
    [{ actions: [{ type: 'assign_contact', config: { userId: 'x' } }] }, 'actions.0.config.userId'],
    [{ actions: [{ type: 'update_field', config: { field: 'leadScore', value: 1 } }] }, 'actions.0.config.field'],
    [{ actions: [{ type: 'update_field', config: { field: 'email', value: 'nobody' } }] }, 'actions.0.config.value'],
    [{ actions: [{ type: 'update_field', config: { entity: 'task', field: 'status', value: 'over' } }] }, 'actions.0.config.value'],
    [{ actions: [{ type: 'update_field', config: { entity: 'constructor', field: 'name', value: 1 } }] }, 'actions.0.config.entity'],
    [{ actions: [{ type: 'update_field', config: { field: 'doNotContact', value: 'maybe' } }] }, 'actions.0.config.value'],
    [
      { actions: [{ type: 'enroll_sequence', config: { sequenceId: '01a203c7-84ea-7517-9bbe-8a3176038ded' } }] },
      'actions.0.config.sequenceId',
    ],
    [{ actions: [{ type: 'send_webhook', config: { url: 'ftp://example.com/x' } }] }, 'actions.0.config.url'],
  ])('refuses %j naming %s', async (fields, field) => {
    const reply = await acme.owner.post('/workflows', { name: 'W', trigger: { event: 'contact.created' }, actions: [], ...fields });
    expectRefusal(reply, 400, field);
  });
});

describe('an active workflow', () => {
  it('does its actions when its event happens and its conditions hold', async () => {
    const { id: templateId } = dataOf(
      await acme.owner.post('/emails/templates', { name: 'T', channel: 'email', subject: 'Hi {{contact.firstName}}', body: 'B' }),
    );
    const actions = [
      task,
      { type: 'assign_contact', config: { userId: acme.ownerId } },
      { type: 'send_email', config: { templateId } },
      { type: 'update_field', config: { field: 'customFields.seen', value: '{{contact.lastName}} by {{workflow.name}}' } },
    ];
    const workflow = await active({ trigger: { event: 'contact.created', conditions: { source: 'web' } }, actions });
    await acme.contact({ firstName: 'Nope', email: 'nope@example.com', source: 'ads' });
    const contact = await acme.contact({ firstName: 'Ada', lastName: 'L', email: 'ada@example.com', source: 'web' });
    const [run] = await ended(workflow);
    expect(run).toMatchObject({
      ...{
        workflowId: workflow.id,
        workflowName: 'W',
        status: 'success',
        triggerEvent: 'contact.created',
        error: null,
        contactId: contact.id,
      },
      triggerData: { id: contact.id, firstName: 'Ada' },
    });
    expect(run!.actions.map(({ status }: Loose) => status)).toEqual(['success', 'success', 'success', 'success']);
    const after = dataOf(await acme.owner.get(`/contacts/${contact.id}`));
    expect(after).toMatchObject({ assignedTo: acme.ownerId, customFields: { seen: 'L by W' } });
    const tasks = dataOf(await acme.owner.get(`/tasks?contact_id=${contact.id}`)).data;
    expect(tasks).toMatchObject([{ title: 'Call Ada', createdBy: null }]);
    const messages = dataOf(await acme.owner.get(`/messages?contact_id=${contact.id}`)).data;
    expect(messages).toMatchObject([{ channel: 'email', subject: 'Hi Ada', templateId }]);
    expect(dataOf(await acme.owner.get(`/workflows/${workflow.id}`))).toMatchObject({ runCount: 1, lastRunAt: run!.startedAt });
    await allPlaced(acme);
    const { data: events } = dataOf(await acme.owner.get('/events?per_page=200'));
    const own = events.filter(({ actor }: Loose) => actor.kind === 'workflow');
    expect(own.map(({ name }: Loose) => name)).toEqual(expect.arrayContaining(['task.created', 'contact.updated', 'message.created']));
    expect(own.find(({ name }: Loose) => name === 'task.created')).toMatchObject({
      ...{ actor: { kind: 'workflow', id: workflow.id, name: 'W' }, causes: [{ kind: 'workflow', id: workflow.id, runId: run!.id }] },
    });
    await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('PATCH /workflows/{id}', () => {
  it('answers 400 to isActive that is null', async () => {
    const workflow = await active({ trigger: { event: 'contact.created' }, actions: [task] });
    expectRefusal(await acme.owner.patch(`/workflows/${workflow.id}`, { isActive: null }), 400, 'isActive');
    expect(dataOf(await acme.owner.get(`/workflows/${workflow.id}`)).isActive).toBe(true);
    await acme.owner.del(`/workflows/${workflow.id}`);
  });

  it('has an active one wait for another event from here on, however late the feed is read', async () => {
    const workflow = await active({ trigger: { event: 'contact.created' }, actions: [task] });
    const rename = async (name: string) => dataOf(await acme.owner.patch(`/workflows/${workflow.id}`, { name }));
    await whileUnread(acme, 'workflows', async () => {
      await acme.tag('Before');
      await allPlaced(acme);
      dataOf(await acme.owner.patch(`/workflows/${workflow.id}`, { trigger: { event: 'tag.created' } }));
      await acme.tag('After');
      await allPlaced(acme);
      // What is no other event leaves it as it is.
      await rename('Renamed');
      dataOf(await acme.owner.patch(`/workflows/${workflow.id}`, { trigger: { event: 'tag.created', conditions: null } }));
    });
    expect((await ended(workflow)).map(({ triggerData }: Loose) => triggerData.name)).toEqual(['After']);
    await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('a workflow on what is deleted', () => {
  it('does what can be done about what was deleted', async () => {
    const farewell = { type: 'create_task', config: { title: 'Ask why {{record.firstName}} {{contact.lastName}} left' } };
    const gone = await active({ trigger: { event: 'contact.deleted' }, actions: [farewell] });
    const lost = await active({
      trigger: { event: 'deal.deleted' },
      actions: [{ type: 'create_task', config: { title: 'Without {{deal.title}}' } }],
    });
    const [{ id }, other] = [await acme.contact({ firstName: 'Ada', lastName: 'Gone' }), await acme.contact({ firstName: 'Bob' })];
    const deal = await acme.deal({ title: 'Mill', contactId: other.id });
    dataOf(await acme.owner.del(`/contacts/${id}`));
    dataOf(await acme.owner.del(`/deals/${deal.id}`));
    const [[first], [second]] = [await ended(gone), await ended(lost)];
    expect([first.error, second.error]).toEqual([null, null]);
    expect(first.contactId).toBe(id);
    const made = async (run: Loose) => dataOf(await acme.owner.get(`/tasks/${run.actions[0].result.taskId}`));
    expect(await made(first)).toMatchObject({ title: 'Ask why Ada Gone left', contactId: null });
    expect(await made(second)).toMatchObject({ title: 'Without Mill', contactId: other.id, dealId: null });
    for (const workflow of [gone, lost]) await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('GET /workflows/{id}/runs/{runId}', () => {
  it('knows the runs of this workflow alone, by whichever way they are asked for', async () => {
    const [workflow, other] = [await active(), await made()];
    await acme.contact({ firstName: 'Run' });
    const [{ id }] = (await ended(workflow)) as [Loose];
    const refused = async (path: string, method: 'get' | 'post' = 'get') => {
      const reply = method === 'get' ? await acme.owner.get(path) : await acme.owner.post(path, {});
      expectRefusal(reply, 404);
      expect(reply.body.error).toBe('Workflow run not found');
    };
    for (const runId of [id, '01a203c7-84ea-7517-9bbe-8a3176038ded', 'none']) {
      await refused(`/workflows/${other.id}/runs/${runId}`);
      await refused(`/workflows/${other.id}/runs/${runId}/explain`);
      await refused(`/workflows/${other.id}/runs/${runId}/retry`, 'post');
    }
    for (const { id: made } of [workflow, other]) await acme.owner.del(`/workflows/${made}`);
  });
});
