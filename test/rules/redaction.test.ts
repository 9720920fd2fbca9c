import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Automations, aNode, aTask } from '../support/automations.js';
import { type Account, dataOf, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket } from '../support/live.js';
import { activeWorkflow, endedRuns } from '../support/workflows.js';

let api: TestServer;
let acme: Account;
let automations: Automations;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  automations = new Automations(acme, await acme.key());
});
afterAll(() => api.close());

const own = ['workflows', 'automations', 'webhooks', 'contacts'];
const secret = 'Quiet words';
const url = 'https://127.0.0.1:1/x';

/** What happens in a domain: a record that holds the secret in a field. */
const domains: { scope: string; event: string; field: string; make: () => Promise<Loose> }[] = [
  { scope: 'deals', event: 'deal.created', field: 'title', make: () => acme.deal({ title: secret }) },
  { scope: 'companies', event: 'company.created', field: 'name', make: () => acme.company({ name: secret }) },
  { scope: 'invoices', event: 'invoice.created', field: 'notes', make: () => acme.invoice({ notes: secret }) },
  { scope: 'notes', event: 'note.created', field: 'body', make: () => posted('/notes', { body: secret }) },
  { scope: 'products', event: 'product.created', field: 'name', make: () => posted('/products', { name: secret, price: 5 }) },
  { scope: 'emails', event: 'template.created', field: 'subject', make: () => posted('/emails/templates', template) },
];
const template = { name: 'T', channel: 'email', subject: secret, body: 'B' };
const posted = async (path: string, body: Loose): Promise<Loose> => dataOf(await acme.owner.post(path, body));

/** Has a workflow, an automation and a webhook react to what happens in a domain, and lets it happen. */
async function reacted({ event, field, make }: (typeof domains)[number]) {
  const conditions = { and: [{ field, op: 'is_not_null' }] };
  const title = `See {{record.${field}}}`;
  const actions = [
    { type: 'create_task', config: { title } },
    { type: 'send_webhook', config: { url } },
    { type: 'send_webhook', config: { url, payload: { of: title } } },
    // It is about no contact: the run fails, and can be retried.
    { type: 'update_field', config: { field: 'city', value: 'Oslo' } },
  ];
  const hook = dataOf(await acme.owner.post('/webhooks/manage', { url, events: [event] }));
  const workflow = await activeWorkflow(acme, { trigger: { event, conditions }, actions });
  const asks = aNode('asks', 'condition', { conditions }, 'task', []);
  const options = { triggerEvent: event, triggerConditions: conditions };
  const automation = await automations.make([asks, aTask('task', 'end', title), aNode('end', 'end')], options);
  const record = await make();
  const [run] = await endedRuns(acme, workflow);
  const [other] = await eventually(async () => {
    const runs = await automations.runs(automation);
    return (runs[0]?.status === 'success' && runs) as Loose[];
  });
  const [delivery] = await eventually(async () => {
    const { data } = dataOf(await acme.owner.get(`/webhooks/manage/${hook.id}/deliveries`));
    return (data.length > 0 && data) as Loose[];
  });
  const end = async () => {
    for (const path of [`/workflows/${workflow.id}`, `/automations/${automation}`, `/webhooks/manage/${hook.id}`])
      dataOf(await acme.owner.del(path));
  };
  return { hook, workflow, automation, record, run: run!, other: other!, delivery: delivery!, end };
}
type Reacted = Awaited<ReturnType<typeof reacted>>;

/** What a key is told of it, by each way. */
async function told(key: KeyClient, { hook, workflow, automation, run, other }: Reacted): Promise<Record<string, Loose>> {
  const runField = 'triggerData actions { result } explanation { event { changes } conditions { seen } }';
  const document = `{ workflowRun(id: "${run.id}") { ${runField} } workflow(id: "${workflow.id}") { runs { nodes { ${runField} } } }
    automationRun(id: "${other.id}") { explanation { trigger conditions { seen } } stepLogs { nodes { output } } }
    webhook(id: "${hook.id}") { deliveries { nodes { payload } } deliveryHistory { payload } }
    ofAction: webhookDeliveries(filter: { sourceId: "${workflow.id}" }) { nodes { payload } } }`;
  const paths = {
    runs: `/workflows/${workflow.id}/runs`,
    run: `/workflows/${workflow.id}/runs/${run.id}`,
    explained: `/workflows/${workflow.id}/runs/${run.id}/explain`,
    ofAutomation: `/automations/${automation}/runs/${other.id}`,
    steps: `/automations/${automation}/step-logs`,
    webhook: `/webhooks/manage/${hook.id}`,
    deliveries: `/webhooks/manage/${hook.id}/deliveries`,
  };
  const rest = Object.entries(paths).map(async ([name, path]) => [name, dataOf(await key.get(path))]);
  const dry = dataOf(await key.post(`/workflows/${workflow.id}/dry-run`, { eventId: run.eventId }));
  const retried = await key.gql(`mutation { retryWorkflowRun(id: "${run.id}") { triggerData actions { result } } }`);
  await endedRuns(acme, workflow);
  const answers = { dry, retried: retried.data, document: (await key.gql(document)).data };
  return { ...Object.fromEntries(await Promise.all(rest)), ...answers };
}

describe('what an event says of a domain', () => {
  it.each(domains)('is [redacted] in runs and deliveries for keys without the scope $scope, over both APIs', async (domain) => {
    const all = await reacted(domain);
    const narrow = await acme.key({ scopes: own });
    const whole = await acme.key({ scopes: [...own, domain.scope] });
    const socket = await Socket.open(api.wire.port, { init: bearer(narrow) });
    const live = socket.run('subscription { workflowRunEvents(after: "0") { workflowRun { triggerData actions { result } } } }');
    expect(JSON.stringify(await live.nth(2))).not.toContain(secret);
    socket.cut();
    const hidden = await told(narrow, all);
    for (const [way, said] of Object.entries(hidden)) {
      expect([way, JSON.stringify(said)]).toEqual([way, expect.not.stringContaining(secret)]);
      expect([way, JSON.stringify(said)]).toEqual([way, expect.stringContaining('[redacted]')]);
    }
    for (const [way, said] of Object.entries(await told(whole, all)))
      expect([way, JSON.stringify(said)]).toEqual([way, expect.stringContaining(secret)]);
    // Which record it is stays, as does what the run is about.
    expect(hidden.run!.triggerData).toMatchObject({ id: all.record.id, [domain.field]: '[redacted]' });
    expect(hidden.deliveries!.data[0].payload).toMatchObject({ id: all.run.eventId, event: domain.event, data: { id: all.record.id } });
    expect(hidden.run!.actions[0].result).toMatchObject({ title: '[redacted]', taskId: expect.any(String) });
    await all.end();
  });

  it('is [redacted] in what a replay answers', async () => {
    const all = await reacted(domains[0]!);
    await api.app.database.execute(`update webhook_deliveries set status = 'failed', due_at = null where id = '${all.delivery.id}'`);
    const replay = { deliveryIds: [all.delivery.id] };
    const answers = [];
    for (const scopes of [own, [...own, 'deals']]) {
      const { deliveries } = dataOf(await (await acme.key({ scopes })).post('/webhooks/replay', replay));
      answers.push(deliveries[0].payload.data.title);
    }
    expect(answers).toEqual(['[redacted]', secret]);
    await all.end();
  });

  it('is whole for keys without a list of scopes, and for people, whatever their role is', async () => {
    const all = await reacted(domains[0]!);
    const callers = [await acme.key({ permission: 'read' }), await acme.member()];
    for (const caller of callers)
      expect(dataOf(await caller.get(`/workflows/${all.workflow.id}/runs/${all.run.id}`)).triggerData.title).toBe(secret);
    await all.end();
  });
});

describe('a value that an action sets because of an event of a domain', () => {
  it('is [redacted] whatever its type is: texts within a list, numbers', async () => {
    const setting = (config: object) => ({ type: 'update_field', config });
    const actions = [
      setting({ entity: 'deal', field: 'customFields.heard', value: ['{{record.title}}'] }),
      setting({ entity: 'company', field: 'annualRevenue', value: '{{record.value}}' }),
    ];
    const workflow = await activeWorkflow(acme, { trigger: { event: 'deal.created' }, actions });
    await acme.deal({ title: secret, value: 12_000, companyId: (await acme.company()).id });
    const [run] = await endedRuns(acme, workflow);
    const values = async (scopes: string[]) => {
      const { actions: done } = dataOf(await (await acme.key({ scopes })).get(`/workflows/${workflow.id}/runs/${run!.id}`));
      return done.map(({ result }: Loose) => result.newValue);
    };
    expect(await values(own)).toEqual(['[redacted]', '[redacted]']);
    expect(await values(['workflows', 'deals'])).toEqual(['[redacted]', '[redacted]']);
    expect(await values([...own, 'deals'])).toEqual([[secret], 12_000]);
    dataOf(await acme.owner.del(`/workflows/${workflow.id}`));
  });
});

describe('what happened that only admins may see', () => {
  it('is hidden from members in runs and deliveries, and from no admin', async () => {
    const make = () => posted('/webhooks/manage', { url: `${url}/${secret.replace(' ', '-')}`, events: ['deal.won'], description: secret });
    const all = await reacted({ scope: 'webhooks', event: 'webhook.created', field: 'description', make });
    const read = async (caller: { get: KeyClient['get'] }) =>
      dataOf(await caller.get(`/workflows/${all.workflow.id}/runs/${all.run.id}`)).triggerData.description;
    expect([await read(await acme.member()), await read(acme.owner)]).toEqual(['[redacted]', secret]);
    await all.end();
  });
});

describe('what a condition saw of the contact', () => {
  it('is shown to keys for contacts, whatever event the run began with', async () => {
    const asks = aNode('asks', 'condition', { of: 'contact', conditions: { city: 'Oslo' } }, 'end', []);
    const automation = await automations.make([asks, aNode('end', 'end')], { triggerEvent: 'deal.created' });
    await acme.deal({ title: secret, contactId: await automations.contact({ city: 'Oslo' }) });
    await eventually(async () => (await automations.runs(automation))[0]?.status === 'success');
    const seen = async (scopes: string[]) => {
      const { data } = dataOf(await (await acme.key({ scopes })).get(`/automations/${automation}/step-logs`));
      return data.find(({ nodeId }: Loose) => nodeId === 'asks').output.conditions[0].seen;
    };
    expect([await seen(['automations']), await seen(['automations', 'contacts'])]).toEqual(['[redacted]', 'Oslo']);
    dataOf(await acme.owner.del(`/automations/${automation}`));
  });
});
