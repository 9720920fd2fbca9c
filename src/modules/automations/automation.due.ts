import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { transacted } from '../../kernel/operations/transacted.js';
import { planOfVersion } from './automation.publish.js';
import { automationToChange, changesOf } from './automation.rows.js';
import { nextMoment } from './automation.schedule.js';
import type { AutomationRow } from './automation.table.js';
import { startRun } from './run.start.js';

// A process whose clock is behind may have named a moment as the next one that was run already.
const runOfMoment = statement({
  name: 'runOfMoment',
  takes: { automation: uuid, moment: instant },
  row: { id: uuid },
  text: ({ account, automation, moment }) => sql`
    select r.id from automation_runs r where r.account_id = ${account} and r.automation_id = ${automation} and r.scheduled_for = ${moment}`,
});

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
    const [ran] = await inside.rows(runOfMoment, { automation: before.id, moment: nextRunAt! });
    if (!ran) await startRun(inside, { automation: before, version, startNodeId, scheduledFor: nextRunAt });
    const next = schedule ? nextMoment(schedule, timezone ?? inside.caller.account.timezone, inside.now()) : null;
    const moved = { nextRunAt: next, dueAt: next, attempt: before.attempt + 1, leasedUntil: null };
    const after = inside.update('Automation', before, moved) as AutomationRow;
    await inside.emit({ name: 'automation.updated', record: after, changes: changesOf(before, after), logged: false });
  });
