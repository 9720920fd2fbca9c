import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Automations, aNode, aTask } from '../support/automations.js';
import { type Account, dataOf, day, expectNothingWritten, hour, type Loose, minute, server, type TestServer } from '../support/index.js';
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
const key = () => automations.key;

describe('an event', () => {
  it('starts a run whose conditions hold, with the record as it was then', async () => {
    const id = await automations.make([aTask('call', 'end', 'Call {{contact.firstName}}'), end], {
      ...{ triggerEvent: 'contact.created', triggerConditions: { source: 'web' } },
    });
    const [web] = [await automations.contact({ source: 'web' }), await automations.contact({ source: 'shop' })];
    await automations.read();
    const runs = await automations.runs(id);
    expect(runs.map(({ contactId, triggerEvent, version }) => [contactId, triggerEvent, version])).toEqual([[web, 'contact.created', 1]]);
    await automations.until(runs[0]!.id, 'success');
    expect(await automations.path(runs[0]!.id)).toEqual(['call completed', 'end completed']);
    expect((await automations.tasks(web)).length).toBe(1);
    const { explanation } = dataOf(await key().get(`/automations/${id}/runs/${runs[0]!.id}`));
    expect(explanation.conditions).toEqual([
      { at: 'triggerConditions.source', field: 'source', operator: 'eq', value: 'web', seen: 'web', holds: true },
    ]);
    const { runCount, lastTriggered, runs: history } = dataOf(await key().get(`/automations/${id}`));
    expect([runCount, lastTriggered, history.length]).toEqual([1, runs[0]!.startedAt.toISOString(), 1]);
  });

  it('starts no second run of a contact who is in one, and one once that has ended', async () => {
    const id = await automations.make([aNode('pause', 'wait', { hours: 1 }, 'end'), end], { triggerEvent: 'contact.updated' });
    const contact = await automations.contact();
    const change = (city: string) => key().patch(`/contacts/${contact}`, { city });
    await change('Oslo');
    await change('Bergen');
    await automations.read();
    const [first, ...more] = await automations.runs(id);
    expect(more).toEqual([]);
    await automations.until(first!.id, 'waiting');
    api.clock.advance(hour);
    await automations.until(first!.id, 'success');
    await change('Tromsø');
    await automations.read();
    expect(await automations.runs(id)).toHaveLength(2);
  });

  it('that a run makes starts no run of the same automation', async () => {
    const id = await automations.make([aTask('again', 'end'), end], { triggerEvent: 'task.created' });
    const contactId = await automations.contact();
    dataOf(await key().post('/tasks', { title: 'First', contactId }));
    await eventually(async () => (await automations.runs(id)).length === 2);
    await automations.read();
    const runs = await automations.runs(id);
    expect(runs.map(({ status, endReason }) => [status, endReason])).toEqual([
      ['success', 'completed'],
      ['failed', 'loop'],
    ]);
    expect(runs[1]!.causes).toMatchObject([{ kind: 'automation', id, runId: runs[0]!.id }]);
    dataOf(await key().patch(`/automations/${id}`, { active: false }));
  });
});

describe('a run', () => {
  it('keeps to its version', async () => {
    const id = await automations.make([aNode('pause', 'wait', { days: 1 }, 'old'), aTask('old')]);
    const contact = await automations.contact();
    const [run] = await automations.enroll(id, contact);
    await automations.until(run!, 'waiting');
    dataOf(await key().patch(`/automations/${id}`, { graph: { startNodeId: 'new', nodes: [aTask('new')] } }));
    dataOf(await key().post(`/automations/${id}/publish`));
    api.clock.advance(day);
    await automations.until(run!, 'success');
    expect(await automations.tasks(contact)).toEqual(['old']);
    const [second] = await automations.enroll(id, contact);
    await automations.until(second!, 'success');
    expect(await automations.tasks(contact)).toEqual(['old', 'new']);
  });

  it('takes the branch whose conditions hold, by the contact as they are now', async () => {
    const nodes = [
      aNode('pause', 'wait', { hours: 1 }, 'vip'),
      aNode('vip', 'condition', { conditions: { jobTitle: 'Boss' } }, 'city', [{ when: true, next: 'goal' }]),
      aNode('city', 'branch', {}, 'end', [
        { when: { city: 'Oslo' }, next: 'goal' },
        { when: { field: 'city', op: 'in', value: ['Bergen', 'Tromsø'] }, next: 'call' },
      ]),
      aTask('call', 'goal'),
      aNode('goal', 'goal', {}, 'end'),
      end,
    ];
    const id = await automations.make(nodes);
    const [boss, clerk, nobody] = [
      await automations.contact({ jobTitle: 'Boss' }),
      await automations.contact(),
      await automations.contact(),
    ];
    const runs = await automations.enroll(id, boss, clerk, nobody);
    await Promise.all(runs.map((run) => automations.until(run, 'waiting')));
    dataOf(await key().patch(`/contacts/${clerk}`, { city: 'Bergen' }));
    api.clock.advance(hour);
    await Promise.all(runs.map((run) => automations.until(run, 'success')));
    expect(await Promise.all(runs.map(async (run) => (await automations.path(run)).slice(1).map((step) => step.split(' ')[0])))).toEqual([
      ['vip', 'goal', 'end'],
      ['vip', 'city', 'call', 'goal', 'end'],
      ['vip', 'city', 'end'],
    ]);
    const [, seen] = await automations.steps(runs[1]!);
    expect(seen!.output).toMatchObject({
      holds: false,
      next: 'city',
      conditions: [{ field: 'jobTitle', value: 'Boss', seen: null, holds: false }],
    });
    expect((await automations.run(runs[0]!)).goalNodeId).toBe('goal');
  });
});

describe('a run whose contact or automation goes', () => {
  it('ends with its contact, and does not resume when the contact is restored', async () => {
    const id = await automations.make([aNode('pause', 'wait', { hours: 1 }, 'call'), aTask('call')]);
    const contact = await automations.contact();
    const [run] = await automations.enroll(id, contact);
    await automations.until(run!, 'waiting');
    dataOf(await key().del(`/contacts/${contact}`));
    expect(await automations.run(run!)).toMatchObject({ status: 'cancelled', endReason: 'contact_deleted', dueAt: null });
    expect(await automations.path(run!)).toEqual(['pause cancelled']);
    dataOf(await key().post(`/contacts/${contact}/restore`));
    api.clock.advance(day);
    await automations.read();
    expect(await automations.tasks(contact)).toEqual([]);
  });

  it('moves with its contact in a merge; where both are in one, the kept contact’s goes on', async () => {
    const nodes = [aNode('pause', 'wait', { hours: 1 }, 'call'), aTask('call')];
    const [one, both] = [await automations.make(nodes), await automations.make(nodes)];
    const [kept, gone] = [await automations.contact(), await automations.contact()];
    const [moved] = await automations.enroll(one, gone);
    const [keeps, ends] = await automations.enroll(both, kept, gone);
    await Promise.all([moved, keeps, ends].map((run) => automations.until(run!, 'waiting')));
    dataOf(await key().post('/contacts/merge', { primaryId: kept, secondaryId: gone }));
    expect(await automations.run(moved!)).toMatchObject({ contactId: kept, status: 'waiting' });
    expect(await automations.run(ends!)).toMatchObject({ status: 'cancelled', endReason: 'merged' });
    api.clock.advance(hour);
    await Promise.all([moved, keeps].map((run) => automations.until(run!, 'success')));
    expect(await automations.tasks(kept)).toEqual(['call', 'call']);
  });

  it('ends with its automation', async () => {
    const id = await automations.make([aNode('pause', 'wait', { event: 'contact.updated' }, 'end'), end]);
    const [run] = await automations.enroll(id, await automations.contact());
    await automations.until(run!, 'waiting');
    dataOf(await key().del(`/automations/${id}`));
    expect(await automations.until(run!, 'cancelled')).toMatchObject({ endReason: 'automation_deleted' });
    expect(await automations.path(run!)).toEqual(['pause cancelled']);
  });
});

describe('a wait for an event', () => {
  const nodes = [
    aNode('reply', 'wait', { event: 'contact.updated', conditions: { city: 'Oslo' }, timeout: { days: 2 } }, 'yes', [
      { when: 'timeout', next: 'no' },
    ]),
    aTask('yes'),
    aTask('no'),
  ];

  it('ends by one that meets its conditions, of its contact, after it began', async () => {
    const id = await automations.make(nodes);
    const [contact, other] = [await automations.contact(), await automations.contact()];
    const [run] = await automations.enroll(id, contact);
    await automations.until(run!, 'waiting');
    dataOf(await key().patch(`/contacts/${other}`, { city: 'Oslo' }));
    dataOf(await key().patch(`/contacts/${contact}`, { city: 'Bergen' }));
    await automations.read();
    expect(await automations.standing(run!)).toBe('waiting contact.updated');
    dataOf(await key().patch(`/contacts/${contact}`, { city: 'Oslo' }));
    await automations.until(run!, 'success');
    expect(await automations.tasks(contact)).toEqual(['yes']);
    expect((await automations.steps(run!))[0]!.output).toMatchObject({ ended: 'event', event: 'contact.updated', next: 'yes' });
  });

  it('ends by one that a process told whose clock is behind', async () => {
    const contact = await automations.contact();
    const [run] = await automations.enroll(await automations.make(nodes), contact);
    await automations.until(run!, 'waiting');
    api.clock.advance(-5 * minute);
    dataOf(await key().patch(`/contacts/${contact}`, { city: 'Oslo' }));
    await automations.until(run!, 'success');
    expect(await automations.tasks(contact)).toEqual(['yes']);
  });

  it('does not end by what the run itself did before', async () => {
    const moves = aNode('moves', 'action', { type: 'update_field', config: { field: 'city', value: 'Oslo' } }, 'reply');
    const contact = await automations.contact();
    const [run] = await automations.enroll(await automations.make([moves, ...nodes]), contact);
    await automations.until(run!, 'waiting');
    await automations.read();
    expect(await automations.standing(run!)).toBe('waiting contact.updated');
    dataOf(await key().patch(`/contacts/${contact}`, { jobTitle: 'Boss' }));
    await automations.until(run!, 'success');
    expect(await automations.tasks(contact)).toEqual(['yes']);
  });

  it('ends by its timeout', async () => {
    const contact = await automations.contact();
    const [run] = await automations.enroll(await automations.make(nodes), contact);
    await automations.until(run!, 'waiting');
    api.clock.advance(2 * day);
    await automations.until(run!, 'success');
    expect(await automations.tasks(contact)).toEqual(['no']);
  });
});

describe('a dry run', () => {
  it('shows the way and writes, tells and sends nothing', async () => {
    const nodes = [
      aNode('vip', 'condition', { conditions: { jobTitle: 'Boss' } }, 'end', [{ when: true, next: 'pause' }]),
      aNode('pause', 'wait', { days: 1 }, 'call'),
      aTask('call', 'end'),
      end,
    ];
    const id = await automations.make(nodes);
    const contactId = await automations.contact({ jobTitle: 'Boss' });
    await expectNothingWritten(api, async () => {
      const { outcome, steps, blockers } = dataOf(await key().post(`/automations/${id}/dry-run`, { contactId }));
      expect([outcome, blockers, steps.map(({ nodeId }: Loose) => nodeId)]).toEqual(['completed', [], ['vip', 'pause', 'call', 'end']]);
      expect(Date.parse(steps[2].at) - Date.parse(steps[1].at)).toBe(day);
    });
    const one = dataOf(await key().post('/automations', { name: 'Unfinished' }));
    expect(dataOf(await key().post(`/automations/${one.id}/dry-run`, { contactId }))).toMatchObject({ outcome: 'blocked', steps: [] });
  });
});

describe('figures', () => {
  it('agree with the runs and their steps', async () => {
    const id = await automations.make([
      aNode('city', 'condition', { conditions: { city: 'Oslo' } }, 'call'),
      aTask('call', 'pause'),
      aNode('pause', 'wait', { hours: 1 }, 'end'),
      end,
    ]);
    const [oslo, nowhere] = [await automations.contact({ city: 'Oslo' }), await automations.contact()];
    const [waits, ends] = await automations.enroll(id, oslo, nowhere);
    await automations.until(waits!, 'waiting');
    await automations.until(ends!, 'success');
    expect(dataOf(await key().get(`/automations/${id}/analytics`))).toMatchObject({
      ...{ triggerCount: 2, successCount: 1, failureCount: 0, successRate: 1, failureRate: 0, avgDurationMs: expect.any(Number) },
    });
    const stats = (await key().get(`/automations/${id}/node-stats`)).body.data;
    expect(stats).toEqual([
      { nodeId: 'call', entered: 1, completed: 1, failed: 0, waiting: 0 },
      { nodeId: 'city', entered: 2, completed: 2, failed: 0, waiting: 0 },
      { nodeId: 'pause', entered: 1, completed: 0, failed: 0, waiting: 1 },
    ]);
    const logs = dataOf(await key().get(`/automations/${id}/step-logs`));
    expect(logs.meta.total).toBe(4);
    const run = dataOf(await key().get(`/automations/${id}/runs/${waits}`));
    expect(run.stepLogs.map(({ nodeId }: Loose) => nodeId)).toEqual(['city', 'call', 'pause']);
    expect(run.explanation).toMatchObject({ next: { nodeId: 'pause', type: 'wait', event: null } });
    expect(await api.statements(() => key().get(`/automations/${id}/analytics`))).toBe(
      await api.statements(() => key().get(`/automations/${id}`)),
    );
    api.clock.advance(hour + minute);
    await automations.until(waits!, 'success');
  });
});
