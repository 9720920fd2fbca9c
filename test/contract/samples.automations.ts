import { type Account, dataOf } from '../support/index.js';
import { eventually } from '../support/live.js';
import type { MakeSample } from './samples.js';

/** A graph of every type of node that needs nothing else of the workspace. */
export const aGraph = () => ({
  startNodeId: 'start',
  nodes: [
    { id: 'start', type: 'trigger', config: {}, next: 'lead' },
    {
      ...{ id: 'lead', type: 'condition', config: { of: 'contact', conditions: { masterStatus: 'lead' } }, next: 'pause' },
      branches: [{ when: false, next: 'end' }],
    },
    { id: 'pause', type: 'wait', config: { days: 1 }, next: 'task' },
    { id: 'task', type: 'action', config: { type: 'create_task', config: { title: 'Call {{contact.firstName}}' } }, next: 'won' },
    { id: 'won', type: 'goal', config: {}, next: 'end' },
    { id: 'end', type: 'end' },
  ],
});

export const anAutomation = async (account: Account, n: number, fields: Record<string, unknown> = {}) =>
  dataOf(await account.owner.post('/automations', { name: `Automation ${n}`, triggerEvent: 'tag.created', graph: aGraph(), ...fields }))
    .id as string;

const onAutomation: MakeSample = async (account, n) => ({ params: { id: await anAutomation(account, n) } });

/** A published automation with a contact in a run of it, which waits. */
export const aRunOf = async (account: Account, n: number) => {
  const id = await anAutomation(account, n);
  dataOf(await account.owner.post(`/automations/${id}/publish`));
  const { id: contactId } = await account.contact({ firstName: 'Ada' });
  const { details } = dataOf(await account.owner.post(`/automations/${id}/bulk-enroll`, { contactIds: [contactId] }));
  const { runId } = details[0];
  await eventually(async () => dataOf(await account.owner.get(`/automations/${id}/runs/${runId}`)).status === 'waiting');
  return { id, contactId: contactId as string, runId: runId as string };
};
const onRun: MakeSample = async (account, n) => ({ params: { id: (await aRunOf(account, n)).id } });

/** Samples of automations. */
export const automationSamples: Record<string, MakeSample> = {
  'GET /automations': async (account, n) => {
    await anAutomation(account, n);
    return { query: 'kind=native&status=draft&active=false&sort=name' };
  },
  'POST /automations': (_account, n) => ({
    body: {
      ...{ name: `Made ${n}`, description: 'Welcomes', kind: 'native', triggerEvent: 'contact.created', graph: aGraph(), graphVersion: 2 },
      ...{ trigger: { event: 'contact.created' }, triggerConditions: { source: 'web' }, startNodeId: 'start', folderId: 'welcome' },
      ...{ schedule: '0 9 * * 1-5', scheduleTimezone: 'Europe/Berlin', extWorkflowId: 'flow-1', nodes: aGraph().nodes, actions: [] },
      extWebhookUrl: 'https://example.com/run',
    },
  }),
  'GET /automations/events': () => ({ query: 'kind=native' }),
  'POST /automations/resolve': async (account, n) => {
    await account.tag(`Tag ${n}`);
    return {
      body: {
        items: [
          { type: 'tag', name: `tag ${n}` },
          { type: 'stage', name: 'Won', parent: 'Sales' },
        ],
      },
    };
  },
  'GET /automations/{id}': onAutomation,
  'PATCH /automations/{id}': async (account, n) => ({
    ...(await onAutomation(account, n)),
    body: { name: `Changed ${n}`, schedule: null, triggerEvent: 'deal.won', active: false },
  }),
  'DELETE /automations/{id}': onAutomation,
  'POST /automations/{id}/publish': onAutomation,
  'GET /automations/{id}/signing-secret': onAutomation,
  'POST /automations/{id}/dry-run': async (account, n) => ({
    ...(await onAutomation(account, n)),
    body: { contactId: (await account.contact({ firstName: 'Ada' })).id, data: { name: 'gold' } },
  }),
  'POST /automations/{id}/bulk-enroll': async (account, n) => ({
    ...(await onRun(account, n)),
    body: { contactIds: [(await account.contact({ firstName: 'Ada' })).id, 'nobody'] },
  }),
  'GET /automations/{id}/analytics': onRun,
  'GET /automations/{id}/node-stats': onRun,
  'GET /automations/{id}/step-logs': async (account, n) => ({ ...(await onRun(account, n)), query: 'status=completed&node_id=start' }),
  'GET /automations/{id}/runs': async (account, n) => ({ ...(await onRun(account, n)), query: 'status=waiting&started_from=2020-01-01' }),
  'GET /automations/{id}/runs/{runId}': async (account, n) => {
    const { id, runId } = await aRunOf(account, n);
    return { params: { id, runId } };
  },
};
