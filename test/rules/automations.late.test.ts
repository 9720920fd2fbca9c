import { afterEach, describe, expect, it } from '@jest/globals';
import { allPlaced, aNode, aTask } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { dataOf, minute } from '../support/index.js';
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
