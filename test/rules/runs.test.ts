import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Automations, allPlaced, aNode, aTask } from '../support/automations.js';
import { type Account, dataOf, expectRefusal, type KeyClient, type Loose, second, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { activeWorkflow, endedRuns, runsOf } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
let automations: Automations;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
});
afterAll(() => api.close());

const told = /ada@example|Ada|Seen/;
const task = { type: 'create_task', config: { title: 'T' } };
const conditions = {
  and: [
    { field: 'lastName', op: 'starts_with', value: 'See' },
    { field: 'changes.email.to', op: 'is_not_null' },
    { field: 'masterStatus', value: 'customer' },
  ],
};
const named = [
  { type: 'create_task', config: { title: 'Call {{contact.firstName}}' } },
  { type: 'update_field', config: { field: 'jobTitle', value: 'Aide of {{contact.firstName}}' } },
  { type: 'send_email', config: { subject: 'Dear {{contact.firstName}}', body: 'Hello' } },
];
const trigger = { event: 'contact.updated', conditions };

describe('what a run says of people', () => {
  it('is [redacted] for keys without the scope contacts, over both APIs', async () => {
    const workflow = await activeWorkflow(acme, { trigger, actions: named });
    const asked = aNode('asked', 'condition', { conditions: { and: [{ field: 'lastName', op: 'is_not_null' }] } }, 'named', []);
    const automation = await automations.make([asked, aTask('named', 'end', 'Call {{contact.firstName}}'), aNode('end', 'end')], {
      triggerEvent: 'contact.updated',
      triggerConditions: { and: [{ field: 'lastName', op: 'is_not_null' }] },
    });
    const { id } = await acme.contact({ firstName: 'Ada', lastName: 'Seen', masterStatus: 'customer' });
    dataOf(await acme.owner.patch(`/contacts/${id}`, { email: 'ada@example.com' }));
    const [run] = await endedRuns(acme, workflow);
    const other = await eventually(async () => (await automations.runs(automation))[0]);
    const narrow = await acme.key({ scopes: ['workflows', 'automations'] });
    const whole = await acme.key({ scopes: ['workflows', 'automations', 'contacts'] });
    const runField = 'triggerData actions { result } explanation { event { changes } conditions { field seen } }';
    const document = `{ workflowRun(id: "${run!.id}") { ${runField} } workflowRuns { nodes { ${runField} } }
      workflow(id: "${workflow.id}") { runs { nodes { ${runField} } } }
      automationRuns { nodes { explanation { trigger conditions { seen } } } } automationRun(id: "${other!.id}") { explanation { trigger } } automationStepLogs { nodes { output } } }`;
    const base = `/workflows/${workflow.id}/runs`;
    const events = '/events?names=workflow_run.created,workflow_run.updated,automation_step_log.created&per_page=200';
    for (const key of [narrow, whole]) expect(JSON.stringify(dataOf(await key.get(events)))).not.toMatch(told);
    const paths = [
      base,
      `${base}/${run!.id}`,
      `${base}/${run!.id}/explain`,
      `/automations/${automation}/runs/${other!.id}`,
      `/automations/${automation}/step-logs`,
    ];
    const said = async (key: KeyClient) => [
      ...(await Promise.all(paths.map(async (path) => JSON.stringify(dataOf(await key.get(path)))))),
      JSON.stringify((await key.gql(document)).data),
    ];
    for (const text of await said(narrow)) {
      expect(text).toContain('[redacted]');
      expect(text).not.toMatch(told);
    }
    for (const text of await said(whole)) expect(text).toMatch(told);
    // What is nobody's own stays.
    expect(dataOf(await narrow.get(paths[1]!)).triggerData).toMatchObject({ id, firstName: '[redacted]', masterStatus: 'customer' });
    expect(dataOf(await narrow.get(paths[2]!)).conditions).toMatchObject([
      { field: 'lastName', seen: '[redacted]' },
      { field: 'changes.email.to', seen: '[redacted]' },
      { field: 'masterStatus', seen: 'customer' },
    ]);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
    dataOf(await acme.owner.del(`/automations/${automation}`));
  });
});

describe('what an action sends or writes with merge fields', () => {
  it('is [redacted] for keys without the scope contacts, whatever its members are called', async () => {
    const heard = { list: '{{contact.customFields.heard}}', of: [[true, 5]] };
    const payload = { who: '{{contact.email}}', of: [{ name: '{{contact.firstName}}', nth: 7 }], heard };
    const actions = [
      { type: 'send_webhook', config: { url: 'https://127.0.0.1:1/x', payload } },
      { type: 'update_field', config: { field: 'source', value: 'via {{contact.email}}' } },
      { type: 'update_field', config: { field: 'tags', value: ['via {{contact.email}}'] } },
    ];
    const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created', conditions: { lastName: 'Hidden' } }, actions });
    const customFields = { heard: [4711, true, 'Ada'] };
    await acme.contact({ firstName: 'Ada', lastName: 'Hidden', email: 'ada@example.com', customFields });
    const [run] = await endedRuns(acme, workflow);
    const ask = `{ webhookDeliveries(filter: { sourceId: "${workflow.id}" }) { nodes { id payload } } }`;
    const said = async (key: KeyClient) => {
      const { nodes } = (await key.gql(ask)).data.webhookDeliveries;
      const { actions: done } = dataOf(await key.get(`/workflows/${workflow.id}/runs/${run!.id}`));
      const newValues = done.slice(1).map(({ result }: Loose) => result.newValue);
      return { payloads: nodes.map(({ payload: each }: Loose) => each), newValues };
    };
    const narrow = await acme.key({ scopes: ['workflows', 'webhooks'] });
    const list = ['[redacted]', '[redacted]', '[redacted]'];
    const hidden = { who: '[redacted]', of: [{ name: '[redacted]', nth: 7 }], heard: { list, of: [['[redacted]', '[redacted]']] } };
    expect(await said(narrow)).toEqual({ payloads: [hidden], newValues: ['[redacted]', '[redacted]'] });
    const whole = { who: 'ada@example.com', of: [{ name: 'Ada', nth: 7 }], heard: { list: [4711, true, 'Ada'], of: [[true, 5]] } };
    expect(await said(automations.key)).toEqual({ payloads: [whole], newValues: ['via ada@example.com', ['via ada@example.com']] });
    await api.app.database.execute(`update webhook_deliveries set status = 'failed', due_at = null where source_id = '${workflow.id}'`);
    const [{ id }] = (await automations.key.gql(ask)).data.webhookDeliveries.nodes;
    expect(dataOf(await automations.key.post('/webhooks/replay', { deliveryIds: [id] })).replayed).toBe(1);
    expect((await said(narrow)).payloads).toEqual([hidden, hidden]);
    await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('what an action changes of the contact', () => {
  it('is what the next actions see', async () => {
    const actions = [
      { type: 'assign_contact', config: { userId: acme.ownerId } },
      { type: 'update_field', config: { field: 'firstName', value: 'Bob' } },
      { type: 'create_task', config: { title: 'Call {{contact.firstName}}' } },
      { type: 'update_field', config: { field: 'doNotContact', value: true } },
      { type: 'send_email', config: { subject: 'S', body: 'B' } },
    ];
    const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created', conditions: { lastName: 'Next' } }, actions });
    const { id } = await acme.contact({ firstName: 'Ada', lastName: 'Next', email: 'next@example.com' });
    const [run] = await endedRuns(acme, workflow);
    expect(dataOf(await acme.owner.get(`/tasks?contact_id=${id}`)).data).toMatchObject([{ title: 'Call Bob', assignedTo: acme.ownerId }]);
    expect(run!.actions.at(-1)).toMatchObject({ status: 'skipped', result: { reason: 'do_not_contact' } });
    await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('an event of a run', () => {
  it('starts no run of a workflow, not even of one that was made to wait for it', async () => {
    const workflow = await activeWorkflow(acme, { trigger: { event: 'tag.updated' }, actions: [task] });
    const trigger = JSON.stringify({ event: 'workflow_run.created', conditions: null });
    await api.app.database.execute(
      `update workflows set trigger_event = 'workflow_run.created', trigger = '${trigger}' where id = '${workflow.id}'`,
    );
    const [first, second] = [
      await activeWorkflow(acme, { trigger: { event: 'tag.created' }, actions: [] }),
      await activeWorkflow(acme, { trigger: { event: 'tag.deleted' }, actions: [] }),
    ];
    const { id } = await acme.tag('Runs');
    await endedRuns(acme, first!);
    // What was told of that run has its place before the next event.
    dataOf(await acme.owner.del(`/tags/${id}`));
    await endedRuns(acme, second!);
    expect(await runsOf(acme, workflow)).toEqual([]);
    const { data: told } = dataOf(await acme.owner.get('/events?names=workflow_run.created&per_page=200'));
    const [run] = await runsOf(acme, first!);
    expect(told.find(({ entityId }: Loose) => entityId === run!.id).causes).toEqual([{ kind: 'workflow', id: first!.id, runId: run!.id }]);
    for (const each of [workflow, first, second]) await acme.owner.del(`/workflows/${each!.id}`);
  });
});

describe('a run whose contact is merged', () => {
  it('goes on with the contact that is kept', async () => {
    const execute = (text: string) => api.app.database.execute(text);
    await execute(`create function test_held() returns trigger language plpgsql as $$ begin
      if new.title = 'Held' then raise exception 'held'; end if; return new; end $$`);
    await execute('create trigger test_held before insert on tasks for each row execute function test_held()');
    const actions = [
      { type: 'create_task', config: { title: 'Held' } },
      { type: 'update_field', config: { field: 'jobTitle', value: 'Kept' } },
    ];
    const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created', conditions: { lastName: 'Twin' } }, actions });
    const kept = await acme.contact({ lastName: 'Other' });
    const twin = await acme.contact({ lastName: 'Twin' });
    const run = await eventually(async () => {
      const { rows } = await execute(`select id from workflow_runs where tries = 1 and workflow_id = '${workflow.id}'`);
      return (rows as Loose[])[0];
    });
    dataOf(await acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: twin.id }));
    expect(await runsOf(acme, workflow)).toMatchObject([{ id: run!.id, status: 'running', contactId: kept.id }]);
    await execute('drop trigger test_held on tasks');
    api.clock.advance(10 * second);
    expect(await endedRuns(acme, workflow)).toMatchObject([{ id: run!.id, status: 'success', contactId: kept.id }]);
    expect(dataOf(await acme.owner.get(`/contacts/${kept.id}`)).jobTitle).toBe('Kept');
    expect(dataOf(await acme.owner.get(`/tasks?contact_id=${kept.id}`)).meta.total).toBe(1);
    await allPlaced(acme);
    const events = dataOf(await acme.owner.get('/events?names=workflow_run.updated')).data;
    expect(events.map(({ changes }: Loose) => changes.contactId)).toContainEqual({ from: twin.id, to: kept.id });
    await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('runs with what explains them', () => {
  it('take as many statements for twenty as for two', async () => {
    const workflow = await activeWorkflow(acme, {
      trigger: { event: 'contact.created', conditions: { lastName: 'Many' } },
      actions: [task],
    });
    const automation = await automations.make([aNode('wait', 'wait', { days: 1 }, 'end'), aNode('end', 'end')]);
    const contacts: string[] = [];
    for (let n = 0; n < 20; n++) contacts.push((await acme.contact({ lastName: 'Many' })).id);
    for (const id of await automations.enroll(automation, ...contacts)) await automations.until(id, 'waiting');
    await endedRuns(acme, workflow, 20);
    const key = await acme.key();
    const asked = (first: number) => `{
      workflow(id: "${workflow.id}") { runs(first: ${first}) { nodes { id explanation { event { name } next { index } } } } }
      automation(id: "${automation}") { runs(first: ${first}) { nodes { id explanation { summary next { nodeId } } } } } }`;
    const counted = async (first: number) => {
      const { data } = (await key.gql(asked(first))) as Loose;
      expect([data.workflow.runs.nodes.length, data.automation.runs.nodes.length]).toEqual([first, first]);
      return api.statements(() => key.gql(asked(first)));
    };
    const two = await counted(2);
    expect(await counted(20)).toBe(two);
    expect(two).toBeLessThanOrEqual(6);
    await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('a run of one action', () => {
  /** Waits, by statements that are not counted, until nothing is left to do about what has happened. */
  const settled = (runs: number) =>
    eventually(async () => {
      const { rows } = await api.app.database.execute(`
        select (select count(*) from workflow_runs where account_id = '${acme.id}' and status <> 'running')::int as runs,
          exists (select from outbox_events e where e.account_id = '${acme.id}'
            and not exists (select from feed_positions p where p.account_id = e.account_id and p.seq = e.seq))
          or exists (select from feed_readers r join feed_heads h using (account_id) where r.account_id = '${acme.id}' and r.pos < h.pos)
            as "isBehind"`);
      const [seen] = rows as [{ runs: number; isBehind: boolean }];
      return seen.runs >= runs && !seen.isBehind;
    });

  it('takes at most eight statements from the event to its end', async () => {
    const conditions = { lastName: 'Counted' };
    const key = await acme.key();
    const { rows } = await api.app.database.execute(`select count(*)::int as n from workflow_runs where account_id = '${acme.id}'`);
    let runs = (rows as [{ n: number }])[0].n;
    const make = async (lastName: string) => {
      dataOf(await key.post('/contacts', { lastName }));
      await settled(runs);
    };
    const without = await api.statements(() => make('Counted'), { told: true });
    const workflow = await activeWorkflow(acme, { trigger: { event: 'contact.created', conditions }, actions: [task] });
    const before = runs;
    const run = () => {
      runs++;
      return make('Counted');
    };
    const withRun = await api.statements(run, { told: true });
    expect((await runsOf(acme, workflow)).map(({ status }) => status)).toEqual(Array.from({ length: runs - before }, () => 'success'));
    // Three and a commit make it of the event, and four do it.
    expect(withRun - without).toBeLessThanOrEqual(8);
    await acme.owner.del(`/workflows/${workflow.id}`);
  });
});

describe('what is for one person alone', () => {
  it('starts nothing, and is tried on nothing', async () => {
    const workflow = await activeWorkflow(acme, { trigger: { event: 'smart_list.created' }, actions: [task] });
    // Keys may not see saved lists, whatever their tier: a person has them start something.
    const draft = { name: 'Lists', triggerEvent: 'smart_list.created', graph: { startNodeId: 'end', nodes: [aNode('end', 'end')] } };
    const { id: automation } = dataOf(await acme.owner.post('/automations', draft));
    dataOf(await acme.owner.post(`/automations/${automation}/publish`));
    const member = await acme.member('member');
    const list = { entityType: 'contact', filters: { field: 'city', value: 'Rome' } };
    const made: string[] = [];
    for (const shared of [false, true])
      made.push(dataOf(await member.post('/smart-lists', { name: `Shared: ${shared}`, shared, ...list })).id);
    const [run, ...more] = await endedRuns(acme, workflow);
    expect([run!.triggerData.id, more]).toEqual([made[1], []]);
    await automations.read();
    expect((await automations.runs(automation)).map(({ entityId }) => entityId)).toEqual([made[1]]);
    const { rows } = await api.app.database.execute('select id from outbox_events where entity_id = $1', [made[0]]);
    const [{ id: eventId }] = rows as [{ id: string }];
    expectRefusal(await acme.owner.post(`/workflows/${workflow.id}/dry-run`, { eventId }), 400, 'eventId');
  });
});
