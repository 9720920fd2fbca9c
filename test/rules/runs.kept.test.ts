import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/kernel/base/config.js';
import { sweepOf } from '../../src/kernel/database/sweep.js';
import { oldRuns } from '../../src/modules/automations/run.sweeps.js';
import { sweep } from '../../src/workers/sweeps.js';
import { Automations, aNode, aTask } from '../support/automations.js';
import { queued } from '../support/deliveries.js';
import { type Account, dataOf, day, type Loose, server, type TestServer } from '../support/index.js';
import { activeWorkflow, endedRuns, runsOf } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
let automations: Automations;
beforeAll(async () => {
  api = await server();
  api.app.config.keepRunsDays = 365;
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
});
afterAll(() => api.close());

const ago = (days: number) => new Date(api.clock.now().getTime() - days * day);
const aged = (days: number) => ({ startedAt: ago(days), completedAt: ago(days) });

const ageRun = (id: string, days: number, more: Loose = {}) =>
  api.app.database.prisma.automationRun.updateMany({ where: { id }, data: { ...aged(days), ...more } });
const left = async (automation: string) => (await automations.runs(automation)).map(({ id }) => id).sort();
const ended = async (nodes: Loose[], count: number) => {
  const id = await automations.make(nodes);
  const contacts = await Promise.all(Array.from({ length: count }, () => automations.contact()));
  const runs = await automations.enroll(id, ...contacts);
  for (const run of runs) await automations.until(run, 'success');
  return { id, runs };
};

describe('runs of automations', () => {
  it('go with their steps once they ended KEEP_RUNS_DAYS ago, but for the latest of each', async () => {
    const { id, runs } = await ended([aTask('a', 'b'), aTask('b')], 4);
    const { runs: alone } = await ended([aTask('a')], 1);
    const [old, older, young, latest] = runs as [string, string, string, string];
    for (const [run, days] of [
      [old, 366],
      [older, 500],
      [young, 364],
      [latest, 1],
      [alone[0]!, 500],
    ] as const)
      await ageRun(run, days);
    await sweep(api.app);
    expect(await left(id)).toEqual([young, latest].sort());
    expect([await automations.steps(old), (await automations.steps(young)).length]).toEqual([[], 2]);
    expect((await automations.run(alone[0]!)).status).toBe('success');
    // What was counted stays counted.
    expect(dataOf(await automations.key.get(`/automations/${id}`))).toMatchObject({ runCount: 4 });
  });

  it('stay while they are under way, however old, and while a webhook of theirs is', async () => {
    const id = await automations.make([aNode('wait', 'wait', { days: 900 }, 'end'), aNode('end', 'end')]);
    const [waits] = await automations.enroll(id, await automations.contact());
    await automations.until(waits!, 'waiting');
    await ageRun(waits!, 800, { completedAt: null });
    const [late] = await automations.enroll(id, await automations.contact());
    await automations.until(late!, 'waiting');
    const { id: sender, runs } = await ended([aTask('a')], 2);
    const [sent, latest] = runs as [string, string];
    const source = { kind: 'automation', id: sender, runId: sent } as const;
    const delivery = await queued(api, acme, { url: 'ftp://127.0.0.1/', source });
    const { webhookDelivery } = api.app.database.prisma;
    await webhookDelivery.updateMany({ where: { id: delivery }, data: { status: 'pending', dueAt: new Date('2099-01-01') } });
    await ageRun(sent, 800);
    await sweep(api.app);
    expect(await left(id)).toEqual([waits, late].sort());
    expect(await left(sender)).toEqual([sent, latest].sort());
    await webhookDelivery.updateMany({ where: { id: delivery }, data: { status: 'failed', dueAt: null } });
    await sweep(api.app);
    expect(await left(sender)).toEqual([latest]);
  });

  it('are taken some at a time, those with many steps too', async () => {
    const { id, runs } = await ended([aTask('a')], 4);
    const latest = runs.at(-1)!;
    for (const run of runs.slice(0, -1)) await ageRun(run, 400, { steps: 4999 });
    const { text, values } = sweepOf(oldRuns, oldRuns.before!(api.clock.now(), api.app.config)!, 5000);
    const once = () => api.app.database.execute(text, values);
    // One is as much as a statement takes: the others are left to the next ones.
    expect((await once()).rows).toHaveLength(2);
    expect(await left(id)).toHaveLength(3);
    await once();
    await once();
    expect([await left(id), (await once()).rows]).toEqual([[latest], []]);
  });
});

describe('runs of workflows', () => {
  const age = (id: string, days: number, more: Loose = {}) =>
    api.app.database.prisma.workflowRun.updateMany({ where: { id }, data: { ...aged(days), ...more } });

  it('go once they ended KEEP_RUNS_DAYS ago, but for the latest of each and what is under way', async () => {
    const trigger = { event: 'tag.created', conditions: {} };
    const workflow = await activeWorkflow(acme, { trigger, actions: [{ type: 'create_task', config: { title: 'Look' } }] });
    for (let n = 0; n < 5; n++) await acme.tag(`Tag ${n}`);
    const [latest, ...others] = (await endedRuns(acme, workflow, 5)).map(({ id }) => id as string);
    const [old, failed, young, running] = others as [string, string, string, string];
    await age(latest!, 300);
    await age(old, 366);
    await age(failed, 400, { status: 'failed' });
    await age(young, 364);
    await age(running, 500, { status: 'running', completedAt: null });
    api.app.config.keepRunsDays = 450;
    await sweep(api.app);
    expect(await runsOf(acme, workflow)).toHaveLength(5);
    api.app.config.keepRunsDays = 365;
    await sweep(api.app);
    expect((await runsOf(acme, workflow)).map(({ id }) => id)).toEqual([latest, young, running]);
    await age(young, 900);
    await age(latest!, 899);
    await age(running, 950, { status: 'running', completedAt: null });
    await sweep(api.app);
    expect((await runsOf(acme, workflow)).map(({ id }) => id)).toEqual([latest, running]);
  });
});

it('KEEP_RUNS_DAYS is for ever by default, and no less than events are kept', () => {
  expect(readConfig({}).keepRunsDays).toBeUndefined();
  expect(readConfig({ KEEP_RUNS_DAYS: '31' }).keepRunsDays).toBe(31);
  expect(() => readConfig({ KEEP_RUNS_DAYS: '7' })).toThrow(/KEEP_RUNS_DAYS/);
});
