import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { type Account, dataOf, expectRefusal, type Loose, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { type Received, Receiver } from '../support/receiver.js';
import { activeWorkflow, endedRuns, whyRun } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
let receiver: Receiver;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  receiver = await Receiver.open();
});
afterAll(async () => {
  await receiver.close();
  await api.close();
});

const get = async (path: string): Promise<Loose> => dataOf(await acme.owner.get(path));
const secretOf = async ({ id }: Loose): Promise<string> => (await get(`/workflows/${id}/signing-secret`)).secret;
/** What a receiver with a Standard Webhooks library makes of it. */
const verified = async (workflow: Loose, { body, headers }: Received): Promise<Loose> =>
  new Webhook(await secretOf(workflow)).verify(body, headers as Record<string, string>) as Loose;
const at = (path: string) => eventually(() => receiver.received.find((one) => one.path === path)) as Promise<Received>;
const sends = (path: string, payload?: object) => ({ type: 'send_webhook', config: { url: new URL(path, receiver.url).href, payload } });

describe('a stranger who submits a form', () => {
  it('has a workflow send a signed webhook, and everything on the way says why', async () => {
    const form = dataOf(await acme.owner.post('/forms', { name: 'F', fields: [{ key: 'email', type: 'email' }, { key: 'wish' }] }));
    const first = await activeWorkflow(acme, {
      name: 'Told',
      trigger: { event: 'form.submitted', conditions: { formId: form.id } },
      actions: [
        { type: 'create_task', config: { title: 'Answer {{contact.email}}' } },
        sends('/submitted'),
        sends('/wish', { wish: '{{submission.data.wish}}' }),
      ],
    });
    const second = await activeWorkflow(acme, { trigger: { event: 'task.created' }, actions: [sends('/task')] });
    dataOf(await api.anybody().post(`/forms/${form.id}/submit`, { data: { email: 'eve@example.com', wish: 'snow' } }));

    const [run] = await endedRuns(acme, first);
    const why = await whyRun(acme, run!);
    const event = (await get('/events?names=form.submitted')).data[0];
    expect(why).toMatchObject({
      ...{ status: 'success', event: { eventId: event.eventId, name: 'form.submitted', causes: [] }, next: null },
      conditions: [{ field: 'formId', value: form.id, seen: form.id, holds: true }],
    });
    expect(why.actions.map(({ status }: Loose) => status)).toEqual(['success', 'success', 'success']);

    const payload = await verified(first, await at('/submitted'));
    expect(payload).toMatchObject({ id: event.eventId, event: 'form.submitted', workspaceId: acme.id, data: { formId: form.id } });
    expect(payload.data.data).toMatchObject({ email: 'eve@example.com', wish: 'snow' });
    expect(await verified(first, await at('/wish'))).toEqual({ wish: 'snow' });
    // The actions of one event are two messages to whoever remembers ids.
    const ids = why.actions.slice(1).map(({ result }: Loose) => result.deliveryId);
    expect([(await at('/submitted')).headers['webhook-id'], (await at('/wish')).headers['webhook-id']]).toEqual(ids);
    for (const id of ids) {
      const told = await eventually(async () => {
        const explained = await get(`/webhooks/deliveries/${id}/explain`);
        return explained.status === 'delivered' && explained;
      });
      expect(told).toMatchObject({
        ...{ deliveryId: id, eventId: why.event.eventId, event: why.event.name, reason: 'delivered' },
        ...{ sourceKind: 'workflow', sourceId: first.id, runId: run!.id, attempts: [{ responseStatus: 200, error: null }] },
      });
    }

    const [led] = await endedRuns(acme, second);
    expect((await whyRun(acme, led!)).event).toMatchObject({ causes: [{ kind: 'workflow', id: first.id, runId: run!.id }] });
    const task = await at('/task');
    expect(await verified(second, task)).toMatchObject({ event: 'task.created', data: { title: 'Answer eve@example.com' } });
    await expect(verified(first, task)).rejects.toThrow();
  });

  it('is sent to again by a replay: the same message and bytes, signed alike', async () => {
    const original = await at('/submitted');
    const id = original.headers['x-service-delivery'];
    dataOf(await acme.owner.post('/webhooks/replay', { deliveryIds: [id] }));
    const again = (await eventually(() =>
      receiver.received.find(({ path, headers }) => path === '/submitted' && headers['x-service-delivery'] !== id),
    )) as Received;
    expect(again).toMatchObject({ body: original.body, headers: { 'webhook-id': id } });
  });
});

describe('GET /workflows/{id}/signing-secret and /automations/{id}/signing-secret', () => {
  it('show admins what signs, another secret for each, and nobody else', async () => {
    const workflow = dataOf(await acme.owner.post('/workflows', { name: 'W' }));
    const automation = dataOf(await acme.owner.post('/automations', { name: 'A' }));
    const paths = [`/workflows/${workflow.id}/signing-secret`, `/automations/${automation.id}/signing-secret`];
    const secrets = await Promise.all(paths.map(async (path) => (await get(path)).secret));
    for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(new Set(secrets).size).toBe(2);
    const { owner: stranger } = await api.seed.account();
    const member = await acme.member();
    for (const path of paths) {
      expectRefusal(await member.get(path), 403);
      expectRefusal(await stranger.get(path), 404);
    }
    const query = `{ workflowSigningSecret(id: "${workflow.id}") { secret } automationSigningSecret(id: "${automation.id}") { secret } }`;
    const { data } = (await acme.owner.gql(query)) as Loose;
    expect([data.workflowSigningSecret.secret, data.automationSigningSecret.secret]).toEqual(secrets);
  });
});
