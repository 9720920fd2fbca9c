import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { aNode } from '../support/automations.js';
import { acme, api, automations, served } from '../support/automationsServed.js';
import { attempted, kept } from '../support/deliveries.js';
import { dataOf, day, expectRefusal, type Loose } from '../support/index.js';
import { eventually } from '../support/live.js';
import { Receiver } from '../support/receiver.js';
import { activeWorkflow } from '../support/workflows.js';

served();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.open((_request, response) => void response.writeHead(500).end());
});
afterAll(() => receiver.close());

let nth = 0;
let source: string;
beforeEach(() => {
  source = `source ${++nth}`;
});

const sending = () => ({ type: 'send_webhook', config: { url: receiver.url } });
const trigger = () => ({ event: 'contact.created', conditions: { source } });

/** The delivery of a workflow or an automation that a new contact starts, once a first attempt has failed. */
async function failing(id: string): Promise<string> {
  await acme.contact({ firstName: 'A', source });
  const delivery = await eventually(() => api.app.database.prisma.webhookDelivery.findFirst({ where: { sourceId: id } }));
  await attempted(api, (delivery as Loose).id, 1);
  return (delivery as Loose).id;
}

const makers: [string, string, () => Promise<string>][] = [
  ['a workflow', 'workflows', async () => (await activeWorkflow(acme, { trigger: trigger(), actions: [sending()] })).id],
  [
    'an automation',
    'automations',
    () => automations.make([aNode('send', 'action', sending(), 'end'), aNode('end', 'end')], { trigger: trigger() }),
  ],
  [
    'an ext automation',
    'automations',
    async () => {
      const draft = { name: 'Ext', kind: 'ext', trigger: trigger(), extWebhookUrl: receiver.url };
      const { id } = dataOf(await acme.owner.post('/automations', draft));
      dataOf(await acme.owner.post(`/automations/${id}/publish`));
      return id;
    },
  ],
];

describe('what is sent without an event', () => {
  const lately = () => ({ status: 'cancelled', since: new Date(Date.now() - day).toISOString() });

  it('is called by what led to it, and sent again by that name', async () => {
    const fields = { kind: 'ext', graph: null, extWebhookUrl: receiver.url };
    const enrolled = await automations.make([], fields);
    await automations.enroll(enrolled, (await acme.contact()).id);
    const acted = await automations.make([aNode('send', 'action', sending(), 'end'), aNode('end', 'end')]);
    await automations.enroll(acted, (await acme.contact()).id);
    const scheduled = await automations.make([], { ...fields, schedule: '0 9 * * *' });
    const { automation } = api.app.database.prisma;
    await automation.update({ where: { id: scheduled }, data: { nextRunAt: api.clock.now(), dueAt: api.clock.now() } });
    api.app.jobs.wake('automations');
    for (const [id, event] of [
      [enrolled, 'automation.enrolled'],
      [acted, 'automation.action'],
      [scheduled, 'automation.scheduled'],
    ] as const) {
      const delivery = await eventually(() => api.app.database.prisma.webhookDelivery.findFirst({ where: { sourceId: id } }));
      expect(delivery).toMatchObject({ event });
      const cancelled = { status: 'cancelled', dueAt: null, leasedUntil: null } as const;
      await api.app.database.prisma.webhookDelivery.update({ where: { id: (delivery as Loose).id }, data: cancelled });
      expect(dataOf(await acme.owner.post('/webhooks/replay', { ...lately(), event }))).toMatchObject({ replayed: 1 });
      expectRefusal(await acme.owner.post('/webhooks/manage', { url: receiver.url, events: [event] }), 422, 'events.0');
    }
    expectRefusal(await acme.owner.post('/webhooks/replay', { ...lately(), event: 'automation.dreamt' }), 400, 'event');
  });
});

describe.each(makers)('what waits to be sent of %s', (_what, path, make) => {
  it('is cancelled as that is deleted, and not as it is deactivated', async () => {
    const id = await make();
    const delivery = await failing(id);
    dataOf(
      await (path === 'workflows'
        ? acme.owner.post(`/workflows/${id}/deactivate`)
        : acme.owner.patch(`/automations/${id}`, { active: false })),
    );
    expect(await kept(api, delivery)).toMatchObject({ status: 'pending', attemptCount: 1 });
    dataOf(await acme.owner.del(`/${path}/${id}`));
    expect(await kept(api, delivery)).toMatchObject({ status: 'cancelled', dueAt: null, attemptCount: 1 });
    const { explanation } = dataOf(await acme.owner.get(`/webhooks/deliveries/${delivery}/explain`));
    expect(explanation).toBe(`It was cancelled: its ${path.slice(0, -1)} was deleted before it arrived.`);
    const again = dataOf(await acme.owner.post('/webhooks/replay', { deliveryIds: [delivery] }));
    expect(again).toMatchObject({ replayed: 0, skipped: 1 });
    const since = new Date(Date.now() - day).toISOString();
    expect(dataOf(await acme.owner.post('/webhooks/replay', { status: 'cancelled', since })).replayed).toBe(0);
  });
});
