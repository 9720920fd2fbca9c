import { describe, expect, it } from '@jest/globals';
import { aNode, aTask } from '../support/automations.js';
import { acme, automations, served } from '../support/automationsServed.js';
import { dataOf, type Loose } from '../support/index.js';
import { eventually } from '../support/live.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

served();

let nth = 0;
const items = [{ description: 'Wheel', quantity: 1, unitPrice: 10 }];
const made = async (path: string, body: object): Promise<Loose> => dataOf(await acme.owner.post(path, body));

/** What is about a contact only by way of a deal or an invoice; its event. */
const ways: [string, string, (contactId: string | undefined) => Promise<unknown>][] = [
  ['a task of a deal', 'task.created', async (contactId) => made('/tasks', { title: 'T', dealId: (await acme.deal({ contactId })).id })],
  [
    'an invoice of a deal',
    'invoice.created',
    async (contactId) => made('/invoices', { items, dealId: (await acme.deal({ contactId })).id }),
  ],
  [
    'a payment',
    'payment.created',
    async (contactId) => made(`/invoices/${(await made('/invoices', { items, contactId })).id}/payments`, { amount: 5 }),
  ],
  [
    'a payment of an invoice of a deal',
    'payment.created',
    async (contactId) => {
      const { id: dealId } = await acme.deal({ contactId });
      return made(`/invoices/${(await made('/invoices', { items, dealId })).id}/payments`, { amount: 5 });
    },
  ],
];

describe.each(ways)('a run that is started by %s', (_what, event, happens) => {
  it('is about the contact, in a workflow', async () => {
    const subject = 'Dear {{contact.firstName}}';
    const actions = [{ type: 'send_email', config: { subject, body: 'Hello' } }];
    const workflow = await activeWorkflow(acme, { trigger: { event }, actions });
    const { id } = await acme.contact({ firstName: `Ada ${++nth}`, email: 'ada@example.com' });
    await happens(id);
    const [run] = await endedRuns(acme, workflow);
    expect(run).toMatchObject({ status: 'success', contactId: id, actions: [{ result: { subject: `Dear Ada ${nth}` } }] });
    const tried = dataOf(await acme.owner.post(`/workflows/${workflow.id}/dry-run`, { eventId: run!.eventId }));
    expect(tried.actions).toMatchObject([{ result: { subject: `Dear Ada ${nth}` } }]);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });

  it('is about the contact, in an automation; for nobody where there is none', async () => {
    const id = await automations.make([aTask('call', 'end', 'Call {{contact.firstName}}'), aNode('end', 'end')], { triggerEvent: event });
    const contact = await automations.contact({ firstName: `Lin ${++nth}` });
    await happens(contact);
    await eventually(async () => (await automations.tasks(contact)).includes(`Call Lin ${nth}`));
    dataOf(await acme.owner.patch(`/automations/${id}`, { active: false }));
    expect((await automations.runs(id))[0]).toMatchObject({ contactId: contact });
    dataOf(await acme.owner.del(`/automations/${id}`));
    const nobody = await automations.make([aNode('end', 'end')], { triggerEvent: event });
    await happens(undefined);
    await automations.read();
    const runs = await automations.runs(nobody);
    expect(runs).toMatchObject([{ contactId: null }]);
    await automations.until(runs[0]!.id, 'success');
    dataOf(await acme.owner.del(`/automations/${nobody}`));
  });

  it('would end a wait of that contact alone, in an automation', async () => {
    const id = await automations.make([aNode('wait', 'wait', { event }, 'end'), aNode('end', 'end')]);
    const contact = await automations.contact();
    const [run] = await automations.enroll(id, contact);
    await automations.until(run!, 'waiting');
    await happens(await automations.contact());
    await happens(undefined);
    await automations.read();
    expect(await automations.standing(run!)).toBe(`waiting ${event}`);
    await happens(contact);
    await automations.until(run!, 'success');
    dataOf(await acme.owner.del(`/automations/${id}`));
  });
});

describe('an e-mail of a run', () => {
  it('is left out where somebody else with the address has opted out of e-mail', async () => {
    const trigger = { event: 'contact.created', conditions: { lastName: 'Namesake' } };
    const workflow = await activeWorkflow(acme, { trigger, actions: [{ type: 'send_email', config: { subject: 'S', body: 'B' } }] });
    await acme.contact({ email: 'Namesake@example.com', optedOutEmail: true });
    const { id } = await acme.contact({ lastName: 'Namesake', email: 'namesake@example.com' });
    const [run] = await endedRuns(acme, workflow);
    expect(run).toMatchObject({ status: 'success', contactId: id });
    expect(run!.actions).toMatchObject([{ status: 'skipped', result: { reason: 'recipient_opted_out' } }]);
    expect(dataOf(await acme.owner.get(`/messages?contact_id=${id}`)).data).toEqual([]);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });
});
