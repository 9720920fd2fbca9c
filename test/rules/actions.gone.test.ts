import { describe, expect, it } from '@jest/globals';
import { aNode, aTask, whileUnread } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { dataOf, type Loose, minute } from '../support/index.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

served();

const made = async (path: string, body: object): Promise<Loose> => dataOf(await acme.owner.post(path, body));
const remove = async (...paths: string[]) => {
  for (const path of paths) dataOf(await acme.owner.del(path));
};
const items = [{ description: 'Wheel', quantity: 1, unitPrice: 10 }];
const ship = { type: 'create_task', config: { title: 'Ship', description: '{{contact.firstName}}' } };
const mail = { type: 'send_email', config: { subject: 'Thank you', body: 'Hello' } };

type Links = { contactId: string; dealId: string };

/** What is of a contact and a deal and stays when they go; its event, and what makes it happen. */
const ways: [string, string, (links: Links) => Promise<() => Promise<unknown>>][] = [
  [
    'an invoice that is paid',
    'invoice.paid',
    async (links) => {
      const { id } = await made('/invoices', { items, ...links });
      return () => made(`/invoices/${id}/payments`, { amount: 10 });
    },
  ],
  [
    'a task that is done',
    'task.completed',
    async (links) => {
      const { id } = await acme.task(links);
      return async () => dataOf(await acme.owner.patch(`/tasks/${id}`, { status: 'done' }));
    },
  ],
];

/** Makes it happen once the contact and the deal are gone. */
async function happened(way: (typeof ways)[number][2]): Promise<Links> {
  const { id: contactId } = await acme.contact({ firstName: 'Ada', email: 'ada@example.com' });
  const { id: dealId } = await acme.deal({ contactId });
  const happens = await way({ contactId, dealId });
  await remove(`/deals/${dealId}`, `/contacts/${contactId}`);
  await happens();
  return { contactId, dealId };
}

const tasksNamed = (title: string) => api.app.database.prisma.task.findMany({ where: { accountId: acme.id, title } });

describe.each(ways)('a run that is started by %s, of a contact and a deal who are deleted', (_what, event, way) => {
  it('acts for nobody, in a workflow and its dry run; an e-mail fails', async () => {
    const workflow = await activeWorkflow(acme, { trigger: { event }, actions: [ship, mail, ship] });
    const { contactId } = await happened(way);
    const [run] = await endedRuns(acme, workflow);
    const came = [{ status: 'success' }, { status: 'failed', error: expect.stringContaining('not_found') }, { status: 'skipped' }];
    expect(run).toMatchObject({ status: 'failed', contactId, actions: came });
    const task = dataOf(await acme.owner.get(`/tasks/${run!.actions[0].result.taskId}`));
    expect(task).toMatchObject({ title: 'Ship', contactId: null, dealId: null, assignedTo: null });
    const tried = dataOf(await acme.owner.post(`/workflows/${workflow.id}/dry-run`, { eventId: run!.eventId }));
    expect(tried.actions).toMatchObject(came);
    await remove(`/workflows/${workflow.id}`);
  });

  it('acts for nobody, in an automation', async () => {
    const title = `Ship after ${event}`;
    const id = await automations.make([aTask('ship', 'end', title), aNode('end', 'end')], { triggerEvent: event });
    await happened(way);
    await automations.read();
    const [run] = await automations.runs(id);
    expect(await automations.until(run!.id, 'success', 'failed')).toMatchObject({ status: 'success', contactId: null });
    expect(await tasksNamed(title)).toMatchObject([{ contactId: null, dealId: null }]);
    await remove(`/automations/${id}`);
  });
});

describe('a run that goes on', () => {
  it('after its contact is restored acts for them again, when it is retried', async () => {
    const workflow = await activeWorkflow(acme, { trigger: { event: 'task.completed' }, actions: [mail, ship] });
    const { contactId } = await happened(ways[1]![2]);
    const [failed] = await endedRuns(acme, workflow);
    expect(failed!.status).toBe('failed');
    await made(`/contacts/${contactId}/restore`, {});
    await made(`/workflows/${workflow.id}/runs/${failed!.id}/retry`, {});
    const [run] = await endedRuns(acme, workflow);
    expect(run).toMatchObject({ status: 'success', actions: [{ status: 'success' }, { status: 'success', result: { contactId } }] });
    await remove(`/workflows/${workflow.id}`);
  });

  it('after its deal is deleted makes a task without the deal', async () => {
    const title = 'Call after a while';
    const wait = aNode('wait', 'wait', { duration: 1, unit: 'minutes' }, 'call');
    const id = await automations.make([wait, aTask('call', 'end', title), aNode('end', 'end')], { triggerEvent: 'deal.created' });
    const deal = await acme.deal();
    await automations.read();
    const [run] = await automations.runs(id);
    await automations.until(run!.id, 'waiting');
    await remove(`/deals/${deal.id}`);
    api.clock.advance(2 * minute);
    expect(await automations.until(run!.id, 'success', 'failed')).toMatchObject({ status: 'success' });
    expect(await tasksNamed(title)).toMatchObject([{ dealId: null }]);
    await remove(`/automations/${id}`);
  });
});

it('does nothing about what happened to a contact who is gone', async () => {
  const trigger = { event: 'contact.created', conditions: { lastName: 'Brief' } };
  const workflow = await activeWorkflow(acme, { trigger, actions: [ship] });
  await whileUnread(acme, 'workflows', async () => {
    const { id } = await acme.contact({ lastName: 'Brief' });
    await remove(`/contacts/${id}`);
  });
  const [run] = await endedRuns(acme, workflow);
  expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('not_found'), actions: [{ status: 'failed' }] });
  await remove(`/workflows/${workflow.id}`);
});
