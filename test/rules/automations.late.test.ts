import { afterEach, describe, expect, it } from '@jest/globals';
import { allPlaced, aNode, aTask } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { dataOf, hour, type Loose, minute } from '../support/index.js';
import { eventually } from '../support/live.js';

served();
afterEach(() => api.clock.reset());

describe('a feed that is read after the time of a wait is out', () => {
  const execute = (text: string) => api.app.database.execute(text, [acme.id]);
  const nodes = [
    aNode('reply', 'wait', { event: 'contact.updated', timeout: { minutes: 5 } }, 'thank', [{ when: 'timeout', next: 'remind' }]),
    aTask('thank'),
    aTask('remind'),
  ];

  /** A run that has come to rest at its wait. */
  async function resting() {
    const contact = await automations.contact();
    const [run] = await automations.enroll(await automations.make(nodes), contact);
    await eventually(async () => (await automations.run(run!)).dueAt!.getTime() > api.clock.now().getTime() + minute);
    return { contact, run: run! };
  }
  const answers = async (contact: string) => dataOf(await automations.key.patch(`/contacts/${contact}`, { city: 'Oslo' }));

  it('ends the wait by what happened in time', async () => {
    const { contact, run } = await resting();
    await execute("update feed_readers set name = 'away' where account_id = $1 and name = 'automations'");
    try {
      await answers(contact);
      await allPlaced(acme);
      api.clock.advance(10 * minute);
      await automations.until(run, 'success');
    } finally {
      await execute("update feed_readers set name = 'automations' where account_id = $1 and name = 'away'");
    }
    expect(await automations.tasks(contact)).toEqual(['thank']);
    expect((await automations.steps(run))[0]!.output).toMatchObject({ ended: 'event', event: 'contact.updated' });
  });

  it('leaves it to its timeout where that was out before', async () => {
    const { contact, run } = await resting();
    const lease = (until: string) => execute(`update automation_runs set leased_until = ${until} where account_id = $1 and id = '${run}'`);
    await lease("now() + interval '10 days'");
    api.clock.advance(10 * minute);
    await answers(contact);
    await automations.read();
    expect(await automations.standing(run)).toBe('waiting contact.updated');
    await lease('null');
    await automations.until(run, 'success');
    expect(await automations.tasks(contact)).toEqual(['remind']);
  });
});

describe('a wait for an instant that is past', () => {
  const instant = { until: '2020-01-01T00:00:00Z' };

  /** An automation that was published while its wait `rest` could be past in a circle. */
  async function published(made: Loose[]): Promise<string> {
    const id = await automations.make(made);
    const { automationVersion } = api.app.database.prisma;
    const { graph }: Loose = await automationVersion.findFirstOrThrow({ where: { automationId: id } });
    const nodes = graph.nodes.map((node: Loose) => (node.id === 'rest' ? { ...node, config: instant } : node));
    await automationVersion.updateMany({ where: { automationId: id }, data: { graph: { ...graph, nodes } } });
    return id;
  }

  it('fails where the run comes round to it at once, in a version that was published while it could', async () => {
    const id = await published([aTask('task', 'rest'), aNode('rest', 'wait', { days: 7 }, 'task')]);
    const [run] = await automations.enroll(id, await automations.contact());
    expect(await automations.until(run!, 'success', 'failed')).toMatchObject({ status: 'failed', endReason: 'failed', steps: 4 });
    expect(await automations.path(run!)).toEqual(['task completed', 'rest completed', 'task completed', 'rest failed']);
  });

  it('fails likewise where one round takes several transactions', async () => {
    const tasks = Array.from({ length: 25 }, (_, n) => aTask(`task ${n}`, n < 24 ? `task ${n + 1}` : 'rest'));
    const id = await published([...tasks, aNode('rest', 'wait', { days: 7 }, 'task 0')]);
    const [run] = await automations.enroll(id, await automations.contact());
    expect(await automations.until(run!, 'success', 'failed')).toMatchObject({ status: 'failed', endReason: 'failed', steps: 52 });
  });

  it('is over in each round of a circle that has a wait besides', async () => {
    const nodes = [aNode('begin', 'wait', instant, 'task'), aTask('task', 'rest'), aNode('rest', 'wait', { hours: 1 }, 'begin')];
    const run = await automations.begin(nodes);
    await automations.until(run, 'waiting');
    api.clock.advance(hour);
    await eventually(async () => (await automations.run(run)).steps === 6);
    const round = ['begin completed', 'task completed'];
    expect(await automations.path(run)).toEqual([...round, 'rest completed', ...round, 'rest waiting']);
  });
});
