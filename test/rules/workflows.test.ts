import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  day,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  second,
  server,
  type TestServer,
} from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const get = async (path: string): Promise<Loose> => dataOf(await acme.owner.get(path));
const made = async (fields: object): Promise<Loose> => dataOf(await acme.owner.post('/workflows', { name: 'W', ...fields }));
const active = async (fields: object): Promise<Loose> => {
  const { id } = await made(fields);
  return dataOf(await acme.owner.post(`/workflows/${id}/activate`, {}));
};
const runsOf = async ({ id }: Loose): Promise<Loose[]> => (await get(`/workflows/${id}/runs`)).data;
const ended = (workflow: Loose, n = 1): Promise<Loose[]> =>
  eventually(async () => {
    const runs = await runsOf(workflow);
    return (runs.length >= n && runs.every(({ status }) => status !== 'running') && runs) as Loose[];
  });
const statuses = (run: Loose) => run.actions.map(({ status }: Loose) => status);
const remove = ({ id }: Loose) => acme.owner.del(`/workflows/${id}`);

const named = (lastName: string) => ({ event: 'contact.created', conditions: { lastName } });

describe('a submission of a form', () => {
  it('leads to a task, an e-mail and a field of the contact', async () => {
    const form = dataOf(await acme.owner.post('/forms', { name: 'F', fields: [{ key: 'email', type: 'email' }, { key: 'wish' }] }));
    const workflow = await active({
      trigger: { event: 'form.submitted', conditions: { formId: form.id } },
      actions: [
        { type: 'create_task', config: { title: 'Answer {{contact.email}} about {{submission.data.wish}}' } },
        { type: 'send_email', config: { subject: 'Thanks', body: 'You wish for {{record.data.wish}}' } },
        { type: 'update_field', config: { field: 'jobTitle', value: 'Wisher' } },
      ],
    });
    await api.anybody().post(`/forms/${form.id}/submit`, { data: { email: 'eve@example.com', wish: 'snow' } });
    const [run] = await ended(workflow);
    expect(statuses(run!)).toEqual(['success', 'success', 'success']);
    const contactId = run!.contactId;
    expect((await get(`/tasks?contact_id=${contactId}`)).data).toMatchObject([{ title: 'Answer eve@example.com about snow' }]);
    expect((await get(`/messages?contact_id=${contactId}`)).data).toMatchObject([{ subject: 'Thanks', body: 'You wish for snow' }]);
    expect(await get(`/contacts/${contactId}`)).toMatchObject({ jobTitle: 'Wisher' });
    await remove(workflow);
  });
});

describe('two workflows that lead to each other', () => {
  it('end as a loop', async () => {
    const sets = (source: string) => ({
      trigger: { event: 'contact.updated', conditions: { lastName: 'Loop' } },
      actions: [{ type: 'update_field', config: { field: 'source', value: source } }],
    });
    const [one, two] = [await active(sets('one')), await active(sets('two'))];
    const { id } = await acme.contact({ firstName: 'L', lastName: 'Loop' });
    await acme.owner.patch(`/contacts/${id}`, { jobTitle: 'x' });
    const looped = async (workflow: Loose) => {
      const runs = await ended(workflow, 2);
      return runs.some(({ error }) => error === 'loop') && runs;
    };
    const runs = [...((await eventually(() => looped(one))) as Loose[]), ...((await eventually(() => looped(two))) as Loose[])];
    for (const run of runs.filter(({ error }) => error === 'loop')) {
      expect(run).toMatchObject({ status: 'failed', actions: [{ executedAt: run.completedAt }] });
      expect(statuses(run)).toEqual(['skipped']);
      expectRefusal(await acme.owner.post(`/workflows/${run.workflowId}/runs/${run.id}/retry`, {}), 409);
    }
    await remove(one);
    await remove(two);
  });
});

describe('a run', () => {
  it('leaves out an e-mail that the contact must not get, and goes on', async () => {
    const mail = { type: 'send_email', config: { subject: 'S', body: 'B' } };
    const workflow = await active({ trigger: named('Out'), actions: [mail, { type: 'create_task', config: { title: 'T' } }] });
    await acme.contact({ lastName: 'Out', email: 'out@example.com', doNotContact: true });
    const [run] = await ended(workflow);
    expect(run!.status).toBe('success');
    expect(run!.actions).toMatchObject([{ status: 'skipped', result: { reason: 'do_not_contact' } }, { status: 'success' }]);
    await remove(workflow);
  });

  it('fails for good where an action cannot succeed, leaves out the rest, and goes on from there when it is retried', async () => {
    const steps = [{ delayDays: 1, subject: 'S', body: 'B' }];
    const { id: sequenceId } = dataOf(await acme.owner.post('/emails/sequences', { name: 'S', steps, isActive: false }));
    const workflow = await active({
      trigger: named('Retry'),
      actions: [
        { type: 'create_task', config: { title: 'Once' } },
        { type: 'enroll_sequence', config: { sequenceId } },
        { type: 'update_field', config: { field: 'city', value: 'Rome' } },
      ],
    });
    const { id } = await acme.contact({ lastName: 'Retry', email: 'retry@example.com' });
    const [run] = await ended(workflow);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringMatching(/^validation_failed: id names an inactive sequence/) });
    expect(statuses(run!)).toEqual(['success', 'failed', 'skipped']);
    expect((await get(`/contacts/${id}`)).city).toBeNull();
    await acme.owner.patch(`/emails/sequences/${sequenceId}`, { isActive: true });
    const again = dataOf(await acme.owner.post(`/workflows/${workflow.id}/runs/${run!.id}/retry`, {}));
    expect(statuses(again)).toEqual(['success', 'pending', 'pending']);
    expect(again).toMatchObject({ triggerData: { id }, actions: [{ result: { title: 'Once' } }, {}, {}] });
    const [after] = await ended(workflow);
    expect(after).toMatchObject({ id: run!.id, status: 'success', error: null });
    expect((await get(`/tasks?contact_id=${id}`)).data).toHaveLength(1);
    expect((await get(`/contacts/${id}`)).city).toBe('Rome');
    expectRefusal(await acme.owner.post(`/workflows/${workflow.id}/runs/${run!.id}/retry`, {}), 409);
    await remove(workflow);
  });

  it('fails where the user was removed to whom it assigns', async () => {
    const { userId } = await acme.member();
    const workflow = await active({ trigger: named('Gone'), actions: [{ type: 'assign_contact', config: { userId } }] });
    dataOf(await acme.owner.del(`/users/${userId}`));
    await acme.contact({ lastName: 'Gone' });
    const [run] = await ended(workflow);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('assignedTo') });
    await remove(workflow);
  });
});

describe('a run that began a month ago', () => {
  it('can be retried, and ends with its workflow', async () => {
    const steps = [{ delayDays: 1, subject: 'S', body: 'B' }];
    const { id: sequenceId } = dataOf(await acme.owner.post('/emails/sequences', { name: 'S', steps, isActive: false }));
    const workflow = await active({ trigger: named('Old'), actions: [{ type: 'enroll_sequence', config: { sequenceId } }] });
    await acme.contact({ lastName: 'Old', email: 'old@example.com' });
    const [run] = await ended(workflow);
    const key = await acme.key();
    const path = `/workflows/${workflow.id}/runs/${run!.id}`;
    const now = () => key.get(path).then(dataOf);
    api.clock.advance(30 * day);
    dataOf(await key.post(`${path}/retry`, {}));
    const again = (await eventually(async () => ((await now()).status === 'failed' ? now() : null))) as Loose;
    expect(again.durationMs).toBeGreaterThan(30 * day);
    // One that is put off to later.
    await api.app.database.execute(
      `update workflow_runs set status = 'running', due_at = now() + interval '100 days', completed_at = null where id = '${run!.id}'`,
    );
    expect(dataOf(await key.del(`/workflows/${workflow.id}`))).toEqual({ id: workflow.id, deleted: true });
    const { rows } = await api.app.database.execute(`select error, duration_ms::float8 as ms from workflow_runs where id = '${run!.id}'`);
    expect(rows).toMatchObject([{ error: 'workflow_deleted' }]);
    expect((rows[0] as Loose).ms).toBeGreaterThan(30 * day);
    api.clock.reset();
  });
});

describe('a fault of ours', () => {
  it('has an action tried three times; the run says what is next and when, and ends with its workflow', async () => {
    const execute = (text: string) => api.app.database.execute(text);
    await execute(`create function test_boom() returns trigger language plpgsql as $$ begin
      if new.title like 'Boom%' then raise exception 'boom'; end if; return new; end $$`);
    await execute('create trigger test_boom before insert on tasks for each row execute function test_boom()');
    const config = (title: string) => ({ type: 'create_task', config: { title } });
    const workflow = await active({ trigger: named('Boom'), actions: [config('Before'), config('Boom'), config('After')] });
    const { id } = await acme.contact({ lastName: 'Boom' });
    const tries = (n: number) =>
      eventually(async () => {
        const [run] = await runsOf(workflow);
        if (!run) return null;
        const why = await get(`/workflows/${workflow.id}/runs/${run.id}/explain`);
        return (why.next?.failedTries === n || why.status === 'failed') && why;
      });
    const first = (await tries(1)) as Loose;
    expect(first).toMatchObject({ status: 'running', next: { index: 1, type: 'create_task', failedTries: 1 } });
    expect(first.actions.map(({ status }: Loose) => status)).toEqual(['success', 'pending', 'pending']);
    api.clock.advance(10 * second);
    await tries(2);
    const other = await acme.contact({ lastName: 'Boom' });
    await execute('drop trigger test_boom on tasks');
    api.clock.advance(60 * second);
    const runs = await ended(workflow, 2);
    expect(runs.map(({ status }) => status)).toEqual(['success', 'success']);
    for (const contact of [id, other.id]) expect((await get(`/tasks?contact_id=${contact}`)).data).toHaveLength(3);

    await execute('create trigger test_boom before insert on tasks for each row execute function test_boom()');
    await acme.contact({ lastName: 'Boom' });
    await eventually(async () => (await runsOf(workflow)).length === 3);
    dataOf(await remove(workflow));
    const { rows } = await execute(
      `select status, error, due_at, actions from workflow_runs where workflow_id = '${workflow.id}' order by started_at desc`,
    );
    const left = { status: 'skipped', executedAt: expect.any(String) };
    expect(rows[0]).toMatchObject({ status: 'failed', error: 'workflow_deleted', due_at: null, actions: [{}, left, left] });
    await execute('drop trigger test_boom on tasks');
  });
});

describe('a workflow', () => {
  const actions = [{ type: 'create_task', config: { title: 'T' } }];

  it('that is not active starts nothing, and none of what happened before', async () => {
    const workflow = await made({ trigger: named('Idle'), actions });
    await acme.contact({ lastName: 'Idle' });
    dataOf(await acme.owner.post(`/workflows/${workflow.id}/activate`, {}));
    await acme.contact({ lastName: 'Idle', firstName: 'counts' });
    const [run] = await ended(workflow);
    expect(run!.triggerData.firstName).toBe('counts');
    dataOf(await acme.owner.post(`/workflows/${workflow.id}/deactivate`, {}));
    await acme.contact({ lastName: 'Idle' });
    const other = await active({ trigger: named('Idle'), actions });
    await acme.contact({ lastName: 'Idle' });
    await ended(other);
    expect(await runsOf(workflow)).toHaveLength(1);
    await remove(workflow);
    await remove(other);
  });

  it('needs a trigger to be active', async () => {
    const workflow = await made({});
    expectRefusal(await acme.owner.post(`/workflows/${workflow.id}/activate`, {}), 422, 'trigger');
  });

  it('keeps a template that it sends from being deleted while it is active', async () => {
    const { id } = dataOf(await acme.owner.post('/emails/templates', { name: 'T', channel: 'email', subject: 'S', body: 'B' }));
    const workflow = await active({ name: 'Mailer', trigger: named('T'), actions: [{ type: 'send_email', config: { templateId: id } }] });
    const reply = await acme.owner.del(`/emails/templates/${id}`);
    expect(reply.status).toBe(409);
    expect(reply.body.uses).toEqual([{ type: 'workflow', id: workflow.id, name: 'Mailer' }]);
    dataOf(await acme.owner.post(`/workflows/${workflow.id}/deactivate`, {}));
    dataOf(await acme.owner.del(`/emails/templates/${id}`));
    expectRefusal(await acme.owner.post(`/workflows/${workflow.id}/activate`, {}), 400, 'actions.0.config.templateId');
  });
});

describe('an action whose text becomes larger than it may be by its merge fields', () => {
  const much = '{{contact.customFields.note}}'.repeat(20);
  it.each([
    ['an e-mail', { type: 'send_email', config: { subject: 'S', body: much } }, 'body must be at most 500 KB'],
    [
      'a payload',
      { type: 'send_webhook', config: { url: 'https://example.com/', payload: { a: [much] } } },
      'payload must be at most 1024 KB',
    ],
    ['a value', { type: 'update_field', config: { field: 'city', value: much } }, 'value must be at most 500 KB'],
  ])('fails at once, with the reason: %s', async (what, action, reason) => {
    const workflow = await active({ trigger: named(what), actions: [action] });
    const email = `${what.replace(' ', '.')}@example.com`;
    await acme.contact({ lastName: what, email, customFields: { note: 'x'.repeat(60_000) } });
    const [run] = await ended(workflow);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining(`invalid_request: ${reason}`) });
  });
});

describe('a dry run', () => {
  it('tells what a workflow would do about a past event, and does nothing', async () => {
    const workflow = await made({
      trigger: {
        event: 'contact.created',
        conditions: {
          or: [
            { field: 'city', value: 'Paris' },
            { field: 'lastName', value: 'Dry' },
          ],
        },
      },
      actions: [
        { type: 'create_task', config: { title: 'See {{contact.firstName}}' } },
        { type: 'assign_contact', config: { userId: acme.ownerId } },
      ],
    });
    const { id } = await acme.contact({ firstName: 'Dora', lastName: 'Dry' });
    const { eventId } = (await eventually(async () =>
      (await get('/events?per_page=200')).data.find((event: Loose) => event.entityId === id),
    )) as Loose;
    const tried = await expectNothingWritten(api, () => acme.owner.post(`/workflows/${workflow.id}/dry-run`, { eventId }));
    expect(dataOf(tried as never)).toMatchObject({
      ...{ matches: true, reason: null, event: { eventId, name: 'contact.created', entityId: id } },
      conditions: [
        { at: 'trigger.conditions.or.0.value', field: 'city', operator: 'eq', value: 'Paris', seen: null, holds: false },
        { at: 'trigger.conditions.or.1.value', field: 'lastName', operator: 'eq', value: 'Dry', seen: 'Dry', holds: true },
      ],
      actions: [
        { status: 'success', result: { title: 'See Dora', contactId: id } },
        { status: 'success', result: { contactId: id, assignedTo: acme.ownerId } },
      ],
    });
    expect((await get(`/tasks?contact_id=${id}`)).data).toEqual([]);
    expectRefusal(await acme.owner.post(`/workflows/${workflow.id}/dry-run`, { eventId: id }), 400, 'eventId');
    const narrow = await acme.key({ scopes: ['workflows'] });
    const { event, conditions } = dataOf(await narrow.post(`/workflows/${workflow.id}/dry-run`, { eventId }));
    expect(conditions.map(({ seen }: Loose) => seen)).toEqual(['[redacted]', '[redacted]']);
    expect(JSON.stringify(event)).not.toMatch(/Dora|"Dry"/);
  });
});
