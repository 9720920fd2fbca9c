import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { restRecordOf } from '../../kernel/model/restRecord.js';
import { type Action, type Outcome, type RunTrigger } from '../actions/action.service.js';
import { contactLoader } from '../contacts/contact.service.js';
import { bodyOf, deliveredWithoutEvent, queueDelivery } from '../webhooks/webhook.queue.js';
import type { GraphNode, Plan } from './automation.graph.js';
import type { RunRow } from './run.table.js';

/** The action of a node, as workflows know it. */
export const actionOf = ({ config }: GraphNode): Action => ({
  type: String(config.type),
  config: (config.config ?? {}) as Action['config'],
});

/** Something that is done as a run: its automation, and the runs behind it. */
interface Acting {
  automation: { id: string; name: string };
  runId: string;
  causes?: readonly Cause[] | null;
}

/** The context in which a run does what it does. */
export function within(ctx: Context, { automation: { id, name }, runId, causes }: Acting): Context {
  const chain = causes ?? [];
  const isSaid = (ctx.request.causes ?? []).length >= chain.length;
  return ctx.within([...(isSaid ? [] : chain), { kind: 'automation', id, runId }], { kind: 'automation', id, name });
}

type About = Pick<RunRow, 'id' | 'automationId' | 'contactId' | 'eventId' | 'triggerEvent' | 'triggerData' | 'startedAt'>;

/** What the actions of a run are done for. */
export function runTriggerOf(run: About, automationName: string): RunTrigger {
  const { id: runId, automationId: id, contactId, eventId, triggerEvent: event, triggerData } = run;
  const { type = null, data = {}, changes = null, createdAt } = triggerData ?? {};
  const at = createdAt ? new Date(createdAt) : run.startedAt;
  return {
    run: { kind: 'automation', id, runId, name: automationName },
    triggeredBy: { event, eventId, at, type, data, changes },
    contactId,
  };
}

/** What an action came to, as a step is logged. */
export const actedOf = ({ status, result, made }: Outcome) =>
  ({ status: status === 'skipped' ? 'skipped' : 'completed', output: { ...result, ...made } }) as const;

/** The step of an ext automation, which is its whole run: the call of its runner. */
export const runnerStep = 'ext';

/** Has the runner of an ext automation called: what started the run, signed, on the ladder of webhooks. Answers the delivery. */
export async function callRunner(ctx: Context, run: RunRow, plan: Plan): Promise<Record<string, unknown>> {
  const { automationId, id: runId, contactId, triggerData, eventId } = run;
  const event = run.triggerEvent ?? deliveredWithoutEvent[run.scheduledFor ? 'scheduled' : 'enrolled'];
  const contact = contactId ? await contactLoader(ctx).load(contactId) : null;
  const record = contact && restRecordOf(ctx.app.registry.schema(), 'Contact', contact as Record<string, unknown>, ctx);
  const { data = record ?? {}, changes = null, createdAt = run.startedAt } = triggerData ?? {};
  const told = bodyOf(ctx, { id: eventId ?? runId, event, createdAt: new Date(createdAt), data, changes });
  const automation = { id: automationId, runId, contactId, workflowId: plan.extWorkflowId };
  const body = JSON.stringify({ ...(JSON.parse(told) as object), automation });
  const source = { kind: 'automation', id: automationId, runId } as const;
  const key = `${runId}:ext`;
  const deliveryId = queueDelivery(ctx, { url: plan.extWebhookUrl!, event, eventId: eventId ?? undefined, body, source, key });
  return { deliveryId };
}
