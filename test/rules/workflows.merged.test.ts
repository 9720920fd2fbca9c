import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { whileUnread } from '../support/automations.js';
import { type Account, dataOf, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const active = async (fields: object): Promise<Loose> => {
  const { id } = dataOf(await acme.owner.post('/workflows', { name: 'W', ...fields }));
  return dataOf(await acme.owner.post(`/workflows/${id}/activate`, {}));
};
/** The only run of a workflow, once it has ended. */
const ended = ({ id }: Loose): Promise<Loose> =>
  eventually(async () => {
    const runs: Loose[] = dataOf(await acme.owner.get(`/workflows/${id}/runs`)).data;
    return runs.length === 1 && runs[0]!.status !== 'running' && runs[0]!;
  }) as Promise<Loose>;
const tasksOf = async ({ id }: Loose): Promise<Loose[]> => dataOf(await acme.owner.get(`/tasks?contact_id=${id}`)).data;
const merge = async (primary: Loose, secondary: Loose) =>
  dataOf(await acme.owner.post('/contacts/merge', { primaryId: primary.id, secondaryId: secondary.id }));

const greet = { type: 'create_task', config: { title: 'Greet {{contact.firstName}}' } };
const note = { type: 'create_task', config: { title: 'Note it' } };

describe('what happened to a contact who was merged before it is read', () => {
  it('starts runs of the one who is kept, and is tried so by a dry run', async () => {
    const workflow = await active({ trigger: { event: 'contact.created', conditions: { lastName: 'Twin' } }, actions: [greet] });
    const [kept, other] = [await acme.contact({ firstName: 'Kept' }), await acme.contact({ firstName: 'Other' })];
    await whileUnread(acme, 'workflows', async () => {
      const twin = await acme.contact({ firstName: 'Twin', lastName: 'Twin' });
      await merge(other, twin);
      await merge(kept, other);
    });
    const run = await ended(workflow);
    expect(run).toMatchObject({ status: 'success', error: null, contactId: kept.id });
    expect((await tasksOf(kept)).map(({ title }) => title)).toEqual(['Greet Kept']);
    const tried = dataOf(await acme.owner.post(`/workflows/${workflow.id}/dry-run`, { eventId: run.eventId }));
    expect(tried.actions).toMatchObject([{ status: 'success', error: null, result: { title: 'Greet Kept', contactId: kept.id } }]);
  });

  it('starts runs of the one who is kept where it happened to a deal', async () => {
    const workflow = await active({ trigger: { event: 'deal.created', conditions: { title: 'Of a twin' } }, actions: [greet] });
    const kept = await acme.contact({ firstName: 'Keeper' });
    await whileUnread(acme, 'workflows', async () => {
      const twin = await acme.contact({ firstName: 'Twin' });
      await acme.deal({ title: 'Of a twin', contactId: twin.id });
      await merge(kept, twin);
    });
    expect(await ended(workflow)).toMatchObject({ status: 'success', contactId: kept.id });
    expect((await tasksOf(kept)).map(({ title }) => title)).toEqual(['Greet Keeper']);
  });

  it('is of the one who is gone where it is the end of that one', async () => {
    const workflow = await active({ trigger: { event: 'contact.deleted', conditions: { lastName: 'Ended' } }, actions: [note] });
    const kept = await acme.contact({ firstName: 'Kept' });
    const twin = await acme.contact({ firstName: 'Twin', lastName: 'Ended' });
    await merge(kept, twin);
    expect(await ended(workflow)).toMatchObject({ status: 'success', contactId: twin.id });
    expect(await tasksOf(kept)).toEqual([]);
  });
});
