import { found } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { planOfVersion } from './automation.publish.js';
import { runnerStep } from './run.actions.js';
import type { AutomationRunExplanation, NextStep } from './run.explain.model.js';
import { automationRunLoader } from './run.service.js';
import type { RunRow } from './run.table.js';

/** What a run does next; null where it has ended. */
async function nextStep(ctx: Context, run: RunRow): Promise<NextStep | null> {
  const { currentNodeId: nodeId, automationId, version, dueAt, waitEvent: event, waitUntil } = run;
  if (run.completedAt) return null;
  const { kind, nodes } = await planOfVersion(ctx, automationId, version);
  if (kind === 'ext' || nodeId === null) return { nodeId: runnerStep, type: runnerStep, at: dueAt, event: null };
  return { nodeId, type: nodes.find(({ id }) => id === nodeId)?.type ?? 'end', at: event ? waitUntil : dueAt, event };
}

const ended = { success: 'It came to its end', failed: 'It failed', cancelled: 'It was ended' } as const;

function startedBy({ triggerEvent, scheduledFor }: RunRow): string {
  if (triggerEvent) return `Started by ${triggerEvent}`;
  return scheduledFor ? `Started for ${scheduledFor.toISOString()} by its schedule` : 'Started by hand';
}

function standing({ status, error, endReason, steps, tries }: RunRow, next: NextStep | null): string {
  if (!next) return `${ended[status as keyof typeof ended]} after ${steps} steps${error ? `: ${error}` : `, ${endReason}`}`;
  const until = [next.event && `the event ${next.event}`, next.at?.toISOString()].filter(Boolean).join(' or ');
  if (status === 'waiting') return `It waits at ${next.nodeId} for ${until}`;
  return `It goes on with ${next.nodeId}${tries > 0 ? `, for the ${tries + 1}. time,` : ''} at ${until}`;
}

/** Why a run stands where it stands: what started it, the runs behind it, and what is next. What its steps saw is in their log. */
export async function explainRun(ctx: Context, id: string): Promise<AutomationRunExplanation> {
  const run = found(await automationRunLoader(ctx).load(id), 'Automation run');
  const { triggerData, eventId, scheduledFor, causes } = run;
  const next = await nextStep(ctx, run);
  return {
    summary: `${startedBy(run)}. ${standing(run, next)}.`,
    trigger: { ...triggerData, ...(eventId && { eventId }), ...(scheduledFor && { scheduledFor }) },
    conditions: run.conditions,
    causes: (causes ?? []).map(({ kind, id: ofId, runId }) => ({ kind, ofId, runId })),
    next,
  };
}
