import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { nextMoment } from '../../src/modules/automations/automation.schedule.js';
import { endOfWait, waitOf } from '../../src/modules/automations/automation.wait.js';
import { Automations, allPlaced, aNode, aTask, whileUnread } from '../support/automations.js';
import { closed } from '../support/closed.js';
import { type Account, dataOf, day, hour, type Loose, minute, type Reply, server, type TestServer, toldIn } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
let automations: Automations;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
});
afterEach(() => api.clock.reset());
afterAll(() => api.close());

const end = aNode('end', 'end');
const moments = (schedule: string, zone: string, after: string, n: number) => {
  const found: string[] = [];
  for (let at: Date | null = new Date(after); at && found.length < n; ) {
    at = nextMoment(schedule, zone, at);
    if (at) found.push(at.toISOString().slice(0, 16));
  }
  return found;
};

describe('a schedule', () => {
  it.each([
    ['a skipped hour at its end', '30 2 * * *', 'America/New_York', '2027-03-13T12:00:00Z', ['2027-03-14T07:00', '2027-03-15T06:30']],
    ['a doubled hour once', '30 1 * * *', 'America/New_York', '2027-11-06T12:00:00Z', ['2027-11-07T05:30', '2027-11-08T06:30']],
    ['a skipped hour of quarters once', '*/15 2 * * *', 'Europe/Berlin', '2027-03-27T12:00:00Z', ['2027-03-28T01:00', '2027-03-29T00:00']],
    ['a leap day', '0 9 29 2 *', 'UTC', '2027-01-01T00:00:00Z', ['2028-02-29T09:00', '2032-02-29T09:00']],
    ['a leap day that is a Sunday', '0 0 29 2 +7#5', 'UTC', '2027-01-01T00:00:00Z', ['2032-02-29T00:00']],
    ['what first comes in the eleventh year', '0 0 1 1 +5', 'UTC', '2027-12-31T00:00:00Z', ['2038-01-01T00:00', '2044-01-01T00:00']],
    ['seconds', '30 0 9 29 2 *', 'UTC', '2027-01-01T00:00:00Z', ['2028-02-29T09:00', '2032-02-29T09:00']],
  ])('does %s', (_what, schedule, zone, after, expected) => {
    expect(moments(schedule, zone, after, 2)).toEqual(expected);
  });

  it('starts one run a moment, and one for all that were missed', async () => {
    const id = await automations.make([end], { schedule: '0 9 * * *', scheduleTimezone: 'UTC' });
    expect(await automations.runs(id)).toEqual([]);
    api.clock.advance(3 * day);
    await eventually(async () => (await automations.runs(id)).some(({ status }) => status === 'success'));
    api.clock.advance(day);
    await eventually(async () => (await automations.runs(id)).length === 2);
    const runs = await automations.runs(id);
    expect(new Set(runs.map(({ scheduledFor }) => scheduledFor!.getTime())).size).toBe(2);
    expect(runs.map(({ contactId, triggerEvent }) => [contactId, triggerEvent])).toEqual([
      [null, null],
      [null, null],
    ]);
  });
});

describe('a schedule whose next moment was run already', () => {
  it('goes on with the one after', async () => {
    const id = await automations.make([end], { schedule: '0 9 * * *', scheduleTimezone: 'UTC' });
    const nextRunAt = async () => new Date(dataOf(await automations.key.get(`/automations/${id}`)).nextRunAt).getTime();
    const first = await nextRunAt();
    api.clock.set(new Date(first));
    await eventually(async () => (await automations.runs(id)).length === 1 && (await nextRunAt()) === first + day);
    // Another process, whose clock is behind.
    api.clock.set(new Date(first - 2 * minute));
    for (const active of [false, true]) dataOf(await automations.key.patch(`/automations/${id}`, { active }));
    expect(await nextRunAt()).toBe(first);
    api.clock.set(new Date(first + minute));
    await eventually(async () => (await nextRunAt()) === first + day);
    expect(await automations.runs(id)).toHaveLength(1);
    api.clock.set(new Date(first + day));
    await eventually(async () => (await automations.runs(id)).length === 2);
  });

  it('runs the moment that was overdue when it was published again', async () => {
    const id = await automations.make([end], { schedule: '0 9 * * *', scheduleTimezone: 'UTC' });
    const first = new Date(dataOf(await automations.key.get(`/automations/${id}`)).nextRunAt);
    await api.app.database.execute(`update automations set leased_until = now() + interval '1 hour' where id = '${id}'`);
    api.clock.set(new Date(first.getTime() + minute));
    dataOf(await automations.key.post(`/automations/${id}/publish`));
    await api.app.database.execute(`update automations set leased_until = null where id = '${id}'`);
    await eventually(async () => (await automations.runs(id)).length > 0);
    const [run] = await automations.runs(id);
    expect(run!.scheduledFor).toEqual(first);
  });
});

describe('a schedule that is changed as it comes due', () => {
  it('runs by its next moment, and not when it was taken for the one before', async () => {
    const id = await automations.make([end], { schedule: '0 9 * * *', scheduleTimezone: 'UTC' });
    // Taken by a process that has not begun with it.
    const { rows } = await api.app.database.execute(
      "update automations set attempt = attempt + 1, leased_until = now() + interval '1 hour' where id = $1 returning attempt",
      [id],
    );
    const [{ attempt }] = rows as [{ attempt: number }];
    dataOf(await automations.key.patch(`/automations/${id}`, { schedule: '0 10 * * *' }));
    const { nextRunAt } = dataOf(await automations.key.post(`/automations/${id}/publish`));
    const ctx = await actingForAccount(api.app, acme.id);
    await api.app.registry.due.get('automations')!.work(ctx!, { id, attempt });
    expect(await automations.runs(id)).toEqual([]);
    api.clock.set(new Date(nextRunAt));
    await eventually(async () => (await automations.runs(id)).length > 0);
    expect((await automations.runs(id)).map(({ scheduledFor }) => scheduledFor)).toEqual([new Date(nextRunAt)]);
  });
});

it('a schedule that names no zone goes by the clock of the workspace, also once that is another one', async () => {
  const own = await api.seed.account();
  const its = new Automations(own, await own.key());
  const byOurs = await its.make([end], { schedule: '0 9 * * *' });
  const byItsOwn = await its.make([end], { schedule: '0 9 * * *', scheduleTimezone: 'UTC' });
  const nextHours = async () =>
    Promise.all([byOurs, byItsOwn].map(async (id) => new Date(dataOf(await its.key.get(`/automations/${id}`)).nextRunAt).getUTCHours()));
  expect(await nextHours()).toEqual([9, 9]);
  const moved = () => own.owner.patch('/settings/workspace', { timezone: 'Asia/Tokyo' });
  const told = await toldIn(own, async () => dataOf(await moved()));
  expect([await nextHours(), told.events]).toEqual([
    [0, 9],
    [`automation.updated ${byOurs}`, `workspace.updated ${own.id}`],
  ]);
  expect((await toldIn(own, moved)).events).toEqual([]);
});

describe('a feed that is read late', () => {
  const graph = () => [aTask('call', 'end'), end];

  it('starts no run of an automation for what happened before it was switched on', async () => {
    const id = await automations.make(graph(), { triggerEvent: 'contact.created' });
    let contact = '';
    await whileUnread(acme, 'automations', async () => {
      await automations.contact();
      dataOf(await automations.key.patch(`/automations/${id}`, { active: false }));
      await automations.contact();
      await allPlaced(acme);
      dataOf(await automations.key.patch(`/automations/${id}`, { active: true }));
      contact = await automations.contact();
    });
    await automations.read();
    expect((await automations.runs(id)).map(({ contactId }) => contactId)).toEqual([contact]);
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('starts no run for a contact who is gone, and that of one who was merged for the one who is kept', async () => {
    const [kept, other] = [await automations.contact(), await automations.contact()];
    const id = await automations.make(graph(), { triggerEvent: 'contact.created' });
    await whileUnread(acme, 'automations', async () => {
      const [gone, twin] = [await automations.contact(), await automations.contact()];
      dataOf(await automations.key.del(`/contacts/${gone}`));
      dataOf(await automations.key.post('/contacts/merge', { primaryId: other, secondaryId: twin }));
      dataOf(await automations.key.post('/contacts/merge', { primaryId: kept, secondaryId: other }));
    });
    await automations.read();
    expect((await automations.runs(id)).map(({ contactId }) => contactId)).toEqual([kept]);
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('ends the wait of a run that has moved to the contact who is kept, by what happened to the one who was merged', async () => {
    const elsewhere = { city: 'Bergen' };
    const [kept, other, twin] = [await automations.contact(elsewhere), await automations.contact(elsewhere), await automations.contact()];
    const wait = aNode('reply', 'wait', { event: 'contact.updated', conditions: { city: 'Oslo' } }, 'call');
    const [run] = await automations.enroll(await automations.make([wait, ...graph()]), twin);
    await automations.until(run!, 'waiting');
    await whileUnread(acme, 'automations', async () => {
      dataOf(await automations.key.patch(`/contacts/${twin}`, { city: 'Oslo' }));
      dataOf(await automations.key.post('/contacts/merge', { primaryId: other, secondaryId: twin }));
      dataOf(await automations.key.post('/contacts/merge', { primaryId: kept, secondaryId: other }));
    });
    expect(await automations.until(run!, 'success')).toMatchObject({ contactId: kept });
    expect(await automations.tasks(kept)).toEqual(['call']);
  });
});

describe('a wait', () => {
  const over = (config: object, now: string, zone = 'Europe/Berlin') =>
    endOfWait(waitOf(config as Record<string, unknown>)!, new Date(now), zone)
      ?.toISOString()
      .slice(0, 16);

  it.each([
    ['days at the local time', { days: 1 }, '2027-03-27T11:00:00Z', '2027-03-28T10:00'],
    ['hours as they are', { hours: 24 }, '2027-03-27T11:00:00Z', '2027-03-28T11:00'],
    ['a duration with its unit', { duration: 5, unit: 'minutes' }, '2027-03-27T11:00:00Z', '2027-03-27T11:05'],
    ['until the time of today', { until: '18:00' }, '2027-06-01T11:00:00Z', '2027-06-01T16:00'],
    ['until the time of tomorrow', { until: '09:00' }, '2027-06-01T11:00:00Z', '2027-06-02T07:00'],
    ['until a weekday', { until: '09:00', weekdays: [1] }, '2027-06-01T11:00:00Z', '2027-06-07T07:00'],
    ['until a time in another zone', { until: '09:00', timezone: 'Asia/Tokyo' }, '2027-06-01T11:00:00Z', '2027-06-02T00:00'],
    ['over leap day', { days: 1 }, '2028-02-28T11:00:00Z', '2028-02-29T11:00'],
    ['by what is not null', { days: 1, hours: null, until: null, event: null, timeout: null }, '2027-03-27T11:00:00Z', '2027-03-28T10:00'],
    ['by a duration beside nulls', { duration: 5, unit: 'minutes', until: null }, '2027-03-27T11:00:00Z', '2027-03-27T11:05'],
    ['until a time on any day', { until: '18:00', weekdays: null, days: null }, '2027-06-01T11:00:00Z', '2027-06-01T16:00'],
    ['for an event at most so long', { event: 'deal.won', timeout: { days: 1, hours: null } }, '2028-02-28T11:00:00Z', '2028-02-29T11:00'],
  ])('lasts %s', (_what, config, now, expected) => {
    expect(over(config, now)).toBe(expected);
  });
});

describe('a clock that is set back', () => {
  type Run = { contactId: string | null; automationId: string };
  it.each<[string, string, (run: Run) => Promise<Reply>]>([
    ['by its event', 'success', ({ contactId }) => automations.key.patch(`/contacts/${contactId}`, { city: 'Oslo' })],
    ['with its contact', 'cancelled', ({ contactId }) => automations.key.del(`/contacts/${contactId}`)],
    ['with its automation', 'cancelled', ({ automationId }) => automations.key.del(`/automations/${automationId}`)],
  ])('leaves a run of an automation that ends %s, and its steps, no time below zero', async (_how, status, work) => {
    const id = await automations.begin([aNode('reply', 'wait', { event: 'contact.updated' }, 'end'), end]);
    await eventually(async () => {
      const { status: now, dueAt } = await automations.run(id);
      return now === 'waiting' && dueAt === null;
    });
    const run = await automations.run(id);
    api.clock.advance(-hour);
    dataOf(await work(run));
    expect(Number((await automations.until(id, status)).durationMs)).toBe(0);
    for (const { durationMs } of await automations.steps(id)) expect(Number(durationMs)).toBeGreaterThanOrEqual(0);
  });

  it('leaves a run of a workflow that is deleted no time below zero', async () => {
    const { key } = automations;
    const trigger = { event: 'contact.created', conditions: { lastName: 'Back' } };
    const { id } = dataOf(await key.post('/workflows', { name: 'W', trigger, actions: [{ type: 'create_task', config: { title: 'T' } }] }));
    dataOf(await key.post(`/workflows/${id}/activate`, {}));
    await automations.contact({ lastName: 'Back' });
    const runs = () => api.app.database.prisma.workflowRun.findMany({ where: { accountId: acme.id, workflowId: id } });
    await eventually(async () => (await runs()).some(({ status }) => status === 'success'));
    // One that is put off to later.
    await api.app.database.execute(
      "update workflow_runs set status = 'running', due_at = now() + interval '100 days', completed_at = null where workflow_id = $1",
      [id],
    );
    api.clock.advance(-hour);
    dataOf(await key.del(`/workflows/${id}`));
    expect((await runs()).map(({ error, durationMs }) => [error, Number(durationMs)])).toEqual([['workflow_deleted', 0]]);
  });
});

describe('an ext automation', () => {
  it('has its runner sent the contact as it is shown, where somebody enrolled it', async () => {
    const fields = { kind: 'ext', graph: null, extWebhookUrl: 'https://127.0.0.1:1/run' };
    const id = await automations.make([], fields);
    const contact = await acme.contact({ firstName: 'Ada', tags: ['Plated'] });
    const [run] = await automations.enroll(id, contact.id);
    await automations.until(run!, 'success');
    const [delivery] = await api.app.database.prisma.webhookDelivery.findMany({ where: { accountId: acme.id, runId: run! } });
    expect(Object.keys(JSON.parse(delivery!.body).data)).toEqual(Object.keys(contact));
    expect(JSON.parse(delivery!.body).data).toMatchObject({ id: contact.id, firstName: 'Ada', tags: contact.tags });
  });

  it('has its runner called, with what started the run', async () => {
    const url = 'https://127.0.0.1:1/run';
    const id = await automations.make([], {
      kind: 'ext',
      graph: null,
      extWebhookUrl: url,
      extWorkflowId: 'flow-7',
      triggerEvent: 'tag.updated',
    });
    const tag = await acme.tag('Silver');
    await automations.key.patch(`/tags/${tag.id}`, { name: 'Gold' });
    await eventually(async () => (await automations.runs(id)).some(({ status }) => status === 'success'));
    const [run] = await automations.runs(id);
    const [delivery] = await api.app.database.prisma.webhookDelivery.findMany({ where: { accountId: acme.id, runId: run!.id } });
    expect(delivery).toMatchObject({ url, event: 'tag.updated', sourceKind: 'automation', sourceId: id, eventId: run!.eventId });
    expect(JSON.parse(delivery!.body)).toMatchObject({
      ...{ id: run!.eventId, event: 'tag.updated', workspaceId: acme.id, data: { id: tag.id, name: 'Gold' } },
      automation: { id, runId: run!.id, contactId: null, workflowId: 'flow-7' },
    });
    expect(await automations.path(run!.id)).toEqual(['ext completed']);
    const events = (await automations.key.get('/automations/events?kind=ext')).body.data as Loose[];
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const { payloadSchema, sample } = events.find(({ event }) => event === 'tag.updated');
    const validate = ajv.compile(closed(payloadSchema));
    expect([validate(JSON.parse(delivery!.body)), validate.errors, validate(sample)]).toEqual([true, null, true]);
  });
});
