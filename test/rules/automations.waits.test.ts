import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Automations, aNode } from '../support/automations.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
let automations: Automations;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
});
afterAll(() => api.close());

const waitFor = (event: string, config: Loose = {}) => [aNode('wait', 'wait', { event, ...config }, 'end'), aNode('end', 'end')];
const win = async ({ id }: Loose) => dataOf(await automations.key.patch(`/deals/${id}`, { status: 'won' }));

/** The run that a record has started. */
const startedBy = async (automation: string, { id }: Loose) =>
  (await eventually(async () => (await automations.runs(automation)).find(({ entityId }) => entityId === id)))!;

describe('a wait for an event of the record that started the run', () => {
  it('ends by that record alone, whatever else happens to its contact', async () => {
    const id = await automations.make(waitFor('deal.won'), { triggerEvent: 'deal.created' });
    const contactId = await automations.contact();
    const [mine, other] = [await acme.deal({ contactId }), await acme.deal({ contactId })];
    const run = await startedBy(id, mine);
    await automations.until(run.id, 'waiting');
    await win(other);
    await automations.read();
    expect((await automations.run(run.id)).status).toBe('waiting');
    await win(mine);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('ends where the run has no contact', async () => {
    const id = await automations.make(waitFor('deal.won'), { triggerEvent: 'deal.created' });
    const deal = await acme.deal({ contactId: null });
    const run = await startedBy(id, deal);
    expect(await automations.until(run.id, 'waiting')).toMatchObject({ contactId: null });
    await win(deal);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });
});

describe('a wait for another record', () => {
  it('ends by a new one of the contact, as its own comes once', async () => {
    const id = await automations.make(waitFor('note.created'), { triggerEvent: 'note.created' });
    const [contactId, stranger] = [await automations.contact(), await automations.contact()];
    const note = async (about: string): Promise<Loose> =>
      dataOf(await automations.key.post('/notes', { body: 'Called', contactId: about }));
    const run = await startedBy(id, await note(contactId));
    await automations.until(run.id, 'waiting');
    await note(stranger);
    await automations.read();
    expect((await automations.run(run.id)).status).toBe('waiting');
    await note(contactId);
    await automations.until(run.id, 'success');
    dataOf(await automations.key.del(`/automations/${id}`));
  });

  it('fails in a run that is for no contact, unless it has a timeout', async () => {
    const [forever, patient] = [
      await automations.make(waitFor('contact.updated'), { triggerEvent: 'tag.created' }),
      await automations.make(waitFor('contact.updated', { timeout: { days: 1 } }), { triggerEvent: 'tag.created' }),
    ];
    const tag = await acme.tag('Starts both');
    const failed = await automations.until((await startedBy(forever, tag)).id, 'failed', 'waiting');
    expect(failed).toMatchObject({ status: 'failed', endReason: 'failed', error: expect.stringContaining('contact.updated') });
    expect(await automations.path(failed.id)).toEqual(['wait failed']);
    await automations.until((await startedBy(patient, tag)).id, 'waiting');
  });
});

it('fails at a wait that only the record of another way to start could end', async () => {
  const id = await automations.make(waitFor('tag.updated'), { triggerEvent: 'tag.created' });
  const [byHand] = await automations.enroll(id, await automations.contact());
  const run = await automations.until(byHand!, 'failed', 'waiting');
  expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('tag.updated') });
});
