import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { emptyRow } from '../../kernel/database/kinds.js';
import { type Changes, changesBetween } from '../../kernel/events/changes.js';
import type { Seen } from '../../kernel/matching/matcher.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { isLoop } from '../actions/action.trigger.js';
import { within } from './run.actions.js';
import { AutomationRun } from './run.model.js';
import { automationRunTable, type RunRow, type Started } from './run.table.js';

/** What starts a run. */
interface Start {
  automation: { id: string; name: string };
  version: number;
  contactId?: string | null;
  startNodeId: string | null;
  eventId?: string | null;
  entityType?: string | null;
  entityId?: string | null;
  triggerEvent?: string | null;
  triggerData?: Started | null;
  /** What the conditions of the trigger saw. */
  conditions?: Seen[];
  scheduledFor?: Date | null;
  /** The runs behind what starts it. */
  causes?: readonly Cause[];
}

const lists = { conditions: [] as Seen[], waitingUnplaced: [] as string[] };
const blank = { ...emptyRow(automationRunTable.shape), ...lists, steps: 0, tries: 0, attempt: 0 };

/** Starts a run in this unit of work, and tells of it. One that would go round in a circle ends at once. */
export async function startRun(ctx: Context, start: Start): Promise<RunRow> {
  const { automation, version, startNodeId, causes = [], contactId = null, ...about } = start;
  const now = ctx.now();
  const ended = { status: 'failed', endReason: 'loop', error: 'loop', completedAt: now, durationMs: 0 } as const;
  const begun = { status: 'running', currentNodeId: startNodeId, dueAt: now } as const;
  const run: RunRow = ctx.insert('AutomationRun', {
    ...blank,
    ...about,
    automationId: automation.id,
    version,
    contactId,
    startedAt: now,
    causes: causes.length > 0 ? [...causes] : null,
    ...(isLoop(causes, { kind: 'automation', id: automation.id }) ? ended : begun),
  });
  await emitRun(within(ctx, { automation, runId: run.id, causes }), 'created', run);
  if (run.dueAt) ctx.wake('automationRuns');
  return run;
}

const tracked = namesOf(AutomationRun).filter((name) => !['id', 'createdAt', 'updatedAt'].includes(name));
export const changesOfRun = (before: RunRow, after: RunRow): Changes => changesBetween(before, after, tracked);

/** Tells of a change of a run: progress, which is no entry of the log. */
export const emitRun = (ctx: Context, event: 'created' | 'updated', run: RunRow, changes?: Changes): Promise<void> =>
  ctx.emit({ name: `automation_run.${event}`, record: run, changes, contactId: run.contactId, logged: false });
