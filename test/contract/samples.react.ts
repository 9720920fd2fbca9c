import { type Account, dataOf } from '../support/index.js';
import { eventually } from '../support/live.js';
import type { MakeSample } from './samples.js';

const actions = [
  { type: 'create_task', config: { title: 'Call {{contact.firstName}}', dueInDays: 1, priority: 'high' } },
  { type: 'update_field', config: { field: 'source', value: 'workflow' } },
];

const aWorkflow = async ({ owner }: Account, n: number) => {
  const trigger = { event: 'contact.created', conditions: { source: 'web' } };
  return dataOf(await owner.post('/workflows', { name: `Workflow ${n}`, trigger, actions })).id as string;
};
const onWorkflow: MakeSample = async (account, n) => ({ params: { id: await aWorkflow(account, n) } });

/** A run that failed, written without its workflow. */
const onRun: MakeSample = async (account, n) => {
  const id = await aWorkflow(account, n);
  const now = account.seed.app.clock.now();
  const failed = {
    type: 'create_task',
    status: 'failed',
    config: { title: 'Call' },
    result: null,
    error: 'x',
    executedAt: now.toISOString(),
  };
  const of = { accountId: account.id, id: crypto.randomUUID(), createdAt: now, updatedAt: now };
  const run = await account.seed.app.database.prisma.workflowRun.create({
    data: {
      ...{
        ...of,
        workflowId: id,
        workflowName: 'Workflow',
        eventId: crypto.randomUUID(),
        status: 'failed',
        triggerEvent: 'contact.created',
      },
      ...{ entityType: 'Contact', triggerData: { id: crypto.randomUUID(), source: 'web' }, eventAt: now, actions: [failed], error: 'x' },
      ...{ startedAt: now, completedAt: now, durationMs: 12, conditions: [], causes: [] },
    },
  });
  return { params: { id, runId: run.id } };
};

/** Samples of what reacts to events. */
export const reactSamples: Record<string, MakeSample> = {
  'GET /workflows': async (account, n) => {
    await aWorkflow(account, n);
    return { query: 'is_active=false&sort=name' };
  },
  'POST /workflows': (_account, n) => ({
    body: {
      ...{ name: `Made ${n}`, description: 'Welcomes', isActive: true, actions },
      trigger: { event: 'deal.stage_changed', conditions: { and: [{ field: 'changes.stageId.to', op: 'is_not_null' }] } },
    },
  }),
  'GET /workflows/{id}': onWorkflow,
  'PATCH /workflows/{id}': async (account, n) => ({
    ...(await onWorkflow(account, n)),
    body: { name: `Changed ${n}`, trigger: { event: 'deal.won' }, actions: [actions[0]] },
  }),
  'DELETE /workflows/{id}': onWorkflow,
  'POST /workflows/{id}/activate': onWorkflow,
  'POST /workflows/{id}/deactivate': onWorkflow,
  'GET /workflows/{id}/signing-secret': onWorkflow,
  'POST /workflows/{id}/dry-run': async (account, n) => {
    const { id } = await account.contact({ firstName: 'Ada', source: 'web' });
    let after = '0';
    const event = await eventually(async () => {
      const { data } = dataOf(await account.owner.get(`/events?per_page=200&after=${after}`));
      after = data.at(-1)?.id ?? after;
      return data.find((each: { entityId: string }) => each.entityId === id);
    });
    return { ...(await onWorkflow(account, n)), body: { eventId: event.eventId } };
  },
  'GET /workflows/{id}/runs': async (account, n) => ({ params: { id: (await onRun(account, n)).params!.id! }, query: 'status=failed' }),
  'GET /workflows/{id}/runs/{runId}': onRun,
  'GET /workflows/{id}/runs/{runId}/explain': onRun,
  'POST /workflows/{id}/runs/{runId}/retry': onRun,
};
