import type { Context } from '../../kernel/context/context.js';
import { instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { Fact } from '../../kernel/events/facts.js';
import { wholeDeal, wholeDealRow } from './deal.columns.js';
import { emitDeal } from './deal.events.js';

const move = statement({
  name: 'moveDeals',
  takes: { from: uuid, to: uuid, now: instant },
  row: wholeDealRow,
  changes: true,
  text: ({ account, from, to, now }) => sql`
    update deals t set stage_id = ${to}, stage_entered_at = ${now}, updated_at = ${now}
    where t.account_id = ${account} and t.stage_id = ${from} and t.deleted_at is null returning ${wholeDeal}`,
});

/** The deals of a deleted stage stand in the one that its deletion names. */
export async function onStageDeleted(ctx: Context, { changes }: Fact): Promise<void> {
  const stageId = changes?.stageId as { from: string; to: string | null };
  if (!stageId.to) return;
  const moved = await ctx.rows(move, { from: stageId.from, to: stageId.to, now: ctx.now() });
  // All at once, so that what others do about it is done for all of them together.
  await Promise.all(moved.map((deal) => emitDeal(ctx, 'updated', deal, { stageId })));
}

const removeAll = statement({
  name: 'deleteDealsOfPipeline',
  takes: { pipeline: uuid, now: instant },
  row: wholeDealRow,
  changes: true,
  text: ({ account, pipeline, now }) => sql`
    update deals t set deleted_at = ${now}, updated_at = ${now}
    where t.account_id = ${account} and t.pipeline_id = ${pipeline} and t.deleted_at is null returning ${wholeDeal}`,
});

/** A deleted pipeline takes its live deals along. */
export async function onPipelineDeleted(ctx: Context, { record }: Fact): Promise<void> {
  const gone = await ctx.rows(removeAll, { pipeline: record.id, now: ctx.now() });
  await Promise.all(gone.map((deal) => emitDeal(ctx, 'deleted', deal)));
}

const unassign = statement({
  name: 'unassignDeals',
  takes: { user: uuid, now: instant },
  row: wholeDealRow,
  changes: true,
  text: ({ account, user, now }) => sql`
    update deals t set assigned_to = null, updated_at = ${now}
    where t.account_id = ${account} and t.assigned_to = ${user} returning ${wholeDeal}`,
});

/** Contract DELETE /users/{id}: the deals of a removed user are nobody's. */
export async function onUserRemoved(ctx: Context, { record }: Fact): Promise<void> {
  const changes = { assignedTo: { from: record.id, to: null } };
  const live = (await ctx.rows(unassign, { user: record.id, now: ctx.now() })).filter(({ deletedAt }) => !deletedAt);
  await Promise.all(live.map((deal) => emitDeal(ctx, 'updated', deal, changes)));
}

/** Keeps the time of the last activity where something was noted, planned or done about a deal. */
export async function touchDeal(ctx: Context, { dealId }: Pick<Fact, 'dealId'>): Promise<void> {
  if (dealId) ctx.update('Deal', { id: dealId }, { lastActivityAt: ctx.now() });
}
