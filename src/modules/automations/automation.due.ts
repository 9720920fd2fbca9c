import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { transacted } from '../../kernel/operations/transacted.js';
import { planOfVersion } from './automation.publish.js';
import { automationToChange, changesOf } from './automation.rows.js';
import { nextMoment } from './automation.schedule.js';
import type { AutomationRow } from './automation.table.js';
import { startRun } from './run.start.js';

/**
 * Starts the run of a moment of a schedule: one, whatever the processes, and one for all the moments that were missed. It is for
 * nobody, and about nothing but the moment.
 */
export const runSchedule = (ctx: Context, { id, attempt }: DueRow): Promise<void> =>
  transacted(ctx, async (inside) => {
    const before = await automationToChange(inside, id);
    const { active, publishedVersion: version, nextRunAt, dueAt } = before;
    if (before.attempt !== attempt || !dueAt || !active || version === null) return;
    const { schedule, timezone, startNodeId } = await planOfVersion(inside, before.id, version);
    await startRun(inside, { automation: before, version, startNodeId, scheduledFor: nextRunAt });
    const next = schedule ? nextMoment(schedule, timezone ?? inside.caller.account.timezone, inside.now()) : null;
    const moved = { nextRunAt: next, dueAt: next, attempt: before.attempt + 1, leasedUntil: null };
    const after = inside.update('Automation', before, moved) as AutomationRow;
    await inside.emit({ name: 'automation.updated', record: after, changes: changesOf(before, after), logged: false });
  });
