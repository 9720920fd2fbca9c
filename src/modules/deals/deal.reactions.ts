import type { Context } from '../../kernel/context/context.js';
import { instant, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { Changes, Fact } from '../../kernel/events/facts.js';
import { relinks } from '../../kernel/lists/relink.js';
import { mergedInto } from '../contacts/contact.service.js';
import { type WholeDeal, wholeDeal, wholeDealRow } from './deal.columns.js';
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

const linked = {
  ...{ table: 'deals', row: wholeDealRow, columns: wholeDeal },
  tell: (ctx: Context, deal: WholeDeal, changes: Changes) => emitDeal(ctx, 'updated', deal, changes),
};
const leaveUser = relinks(linked, 'assignedTo');
const followContact = relinks(linked, 'contactId');

/** Contract DELETE /users/{id}: the deals of a removed user are nobody's. */
export const onUserRemoved = (ctx: Context, { record }: Fact) => leaveUser(ctx, record.id);

/** Contract POST /contacts/merge: the deals go on with the contact that is kept. */
export async function onContactDeleted(ctx: Context, fact: Fact): Promise<void> {
  const kept = mergedInto(fact);
  if (kept) await followContact(ctx, fact.record.id, kept);
}

/** Keeps the time of the last activity where something was noted, planned or done about a deal. */
export async function touchDeal(ctx: Context, { dealId }: Pick<Fact, 'dealId'>): Promise<void> {
  if (dealId) ctx.update('Deal', { id: dealId }, { lastActivityAt: ctx.now() });
}
