import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { instant, listOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type DomainEvent, isNothing } from '../../kernel/events/changes.js';
import { inOwnTransaction } from '../../kernel/operations/ownTransaction.js';
import { timezoneNow } from '../workspaces/workspace.service.js';
import { planOfVersion } from './automation.publish.js';
import { automationForChange, changesOf } from './automation.rows.js';
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
  inOwnTransaction(ctx, async (inside) => {
    inside.lockRows();
    const before = await automationForChange(inside, id);
    const { active, publishedVersion: version, nextRunAt, dueAt } = before;
    if (before.attempt !== attempt || !dueAt || !active || version === null) return;
    const { schedule, timezone, startNodeId } = await planOfVersion(inside, before.id, version);
    const [ran] = await inside.rows(runOfMoment, { automation: before.id, moment: nextRunAt! });
    if (!ran) await startRun(inside, { automation: before, version, startNodeId, scheduledFor: nextRunAt });
    const next = schedule ? nextMoment(schedule, timezone ?? (await timezoneNow(inside)), inside.now()) : null;
    const moved = { nextRunAt: next, dueAt: next, attempt: before.attempt + 1, leasedUntil: null };
    const after: AutomationRow = inside.update('Automation', before, moved);
    await inside.emit({ name: 'automation.updated', record: after, changes: changesOf(before, after), logged: false });
  });

const scheduled = statement({
  name: 'automationsWithASchedule',
  row: { id: uuid },
  locks: true,
  text: ({ account }) => sql`
    select a.id from automations a
    where a.account_id = ${account} and a.active and a.deleted_at is null and a.next_run_at is not null
    order by a.id for no key update of a`,
});

const ofOurClock = statement({
  name: 'schedulesOfOurClock',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, schedule: text },
  text: ({ account, ids }) => sql`
    select a.id, v.graph ->> 'schedule' as schedule from automations a
    join automation_versions v on v.account_id = a.account_id and v.automation_id = a.id and v.version = a.published_version
    where a.account_id = ${account} and a.id = any(${ids}) and v.graph ->> 'schedule' is not null and v.graph ->> 'timezone' is null`,
});

/** The schedules that go by the clocks of the workspace: asked once the automations are held, of which one may be published meanwhile. */
async function byOurClock(ctx: Context): Promise<{ id: string; schedule: string }[]> {
  const held = await ctx.rows(scheduled);
  return held.length > 0 ? ctx.rows(ofOurClock, { ids: held.map(({ id }) => id) }) : [];
}

/** The clocks of the workspace are others: schedules that name no zone go by them from their next moment on. One that is overdue stays. */
export async function onWorkspaceUpdated(ctx: Context, { changes }: DomainEvent): Promise<void> {
  const zone = changes?.timezone?.to;
  if (typeof zone !== 'string') return;
  const now = ctx.now();
  for (const { id, schedule } of await byOurClock(ctx)) {
    const before = await automationForChange(ctx, id);
    if (!before.nextRunAt || before.nextRunAt <= now) continue;
    const next = nextMoment(schedule, zone, now);
    const after: AutomationRow = ctx.update('Automation', before, {
      nextRunAt: next,
      dueAt: next,
      attempt: before.attempt + 1,
      leasedUntil: null,
    });
    const told = changesOf(before, after);
    if (!isNothing(told)) await ctx.emit({ name: 'automation.updated', record: after, changes: told, logged: false });
  }
}
