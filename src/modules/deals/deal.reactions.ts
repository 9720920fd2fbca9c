import type { Context } from '../../kernel/context/context.js';
import { sql, statement } from '../../kernel/database/sql.js';
import type { Fact } from '../../kernel/events/facts.js';
import { wholeDeal } from './deal.columns.js';
import { type DealRow, emitDeal } from './deal.events.js';

const move = statement<DealRow, [from: string, to: string, now: Date]>(
  (account, from, to, now) => sql`
    update deals t set stage_id = ${to}::uuid, stage_entered_at = ${now}, updated_at = ${now}
    where t.account_id = ${account}::uuid and t.stage_id = ${from}::uuid and t.deleted_at is null returning ${wholeDeal}`,
);

/** The deals of a deleted stage stand in the one that its deletion names. */
export async function onStageDeleted(ctx: Context, { changes }: Fact): Promise<void> {
  const stageId = changes?.stageId as { from: string; to: string | null };
  if (!stageId.to) return;
  const tell = async (deal: DealRow) => {
    await emitDeal(ctx, 'deal.updated', deal, { stageId });
    await emitDeal(ctx, 'deal.stage_changed', deal, { stageId });
  };
  // All at once, so that what others do about it is done for all of them together.
  await Promise.all((await ctx.query(move, stageId.from, stageId.to, ctx.now())).map(tell));
}

const removeAll = statement<DealRow, [pipeline: string, now: Date]>(
  (account, pipeline, now) => sql`
    update deals t set deleted_at = ${now}, updated_at = ${now}
    where t.account_id = ${account}::uuid and t.pipeline_id = ${pipeline}::uuid and t.deleted_at is null returning ${wholeDeal}`,
);

/** A deleted pipeline takes its live deals along. */
export async function onPipelineDeleted(ctx: Context, { record }: Fact): Promise<void> {
  const gone = await ctx.query(removeAll, record.id, ctx.now());
  await Promise.all(gone.map((deal) => emitDeal(ctx, 'deal.deleted', deal)));
}

const unassign = statement<DealRow & { deletedAt: Date | null }, [user: string, now: Date]>(
  (account, user, now) => sql`
    update deals t set assigned_to = null, updated_at = ${now}
    where t.account_id = ${account}::uuid and t.assigned_to = ${user}::uuid returning ${wholeDeal}, t.deleted_at as "deletedAt"`,
);

/** Contract DELETE /users/{id}: the deals of a removed user are nobody's. */
export async function onUserRemoved(ctx: Context, { record }: Fact): Promise<void> {
  const changes = { assignedTo: { from: record.id, to: null } };
  const live = (await ctx.query(unassign, record.id, ctx.now())).filter(({ deletedAt }) => !deletedAt);
  await Promise.all(live.map((deal) => emitDeal(ctx, 'deal.updated', deal, changes)));
}

/** Keeps the time of the last activity where something was noted, planned or done about a deal. */
export async function touchDeal(ctx: Context, { dealId }: Pick<Fact, 'dealId'>): Promise<void> {
  if (dealId) ctx.update('Deal', { id: dealId }, { lastActivityAt: ctx.now() });
}
