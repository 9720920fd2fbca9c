import type { Context } from '../../kernel/context/context.js';
import { decimal, instant, integer, listOf, nullable, real, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { type Changes, changesBetween, type DomainEvent } from '../../kernel/events/changes.js';
import { changeAll, lockedUpTo } from '../../kernel/operations/changeAll.js';
import { relinks } from '../../kernel/operations/relink.js';
import { followsContact } from '../contacts/contact.followMerge.js';
import { followsStage, type WholeDeal, wholeDeals } from './deal.columns.js';
import { emitDeal } from './deal.events.js';
import { rulesOf } from './deal.stage.js';

const inStage = statement({
  name: 'dealsToMove',
  takes: { from: uuid, most: nullable(integer) },
  row: { id: uuid },
  locks: true,
  text: ({ account, from, most }) => sql`
    select id from (
      select t.id, t.position from deals t
      where t.account_id = ${account} and t.stage_id = ${from} and t.deleted_at is null ${lockedUpTo(most)}) held
    order by position, id`,
});

const move = statement({
  name: 'moveDeals',
  takes: { ids: listOf(uuid), before: integer, to: uuid, probability: nullable(real), now: instant },
  row: { ...wholeDeals.shape, was: nullable(decimal), stood: text },
  changes: true,
  // Behind what stands there, in the order in which they stood.
  text: ({ account, ids, before, to, probability, now }) => sql`
    update deals t set stage_id = ${to}, stage_entered_at = ${now}, updated_at = ${now},
      position = extract(epoch from ${now}) * 1000 + (${before} + o.nth) * 0.000000001,
      probability = case when ${followsStage} then ${probability}::numeric else t.probability end
    from unnest(${ids}) with ordinality o(id, nth)
    join deals d on d.account_id = ${account} and d.id = o.id
    where t.account_id = ${account} and t.id = o.id returning ${wholeDeals.columns}, d.probability::text as was, d.position::text as stood`,
});

/** The deals of a deleted stage stand in the one that its deletion names. */
export async function onStageDeleted(ctx: Context, { changes }: DomainEvent): Promise<void> {
  const stageId = changes?.stageId as { from: string; to: string | null };
  const { from, to } = stageId;
  if (!to) return;
  const rules = await rulesOf(ctx, to);
  const probability = rules?.probability ? Number(rules.probability) : null;
  const now = ctx.now();
  await changeAll(ctx, {
    find: (most) => ctx.rows(inStage, { from, most }),
    change: (ids, before) => ctx.rows(move, { ids, before, to, probability, now }),
    tell: ({ was, stood, ...deal }) => {
      const other = changesBetween({ probability: was, position: stood }, deal, ['probability', 'position']);
      return emitDeal(ctx, 'updated', deal, { stageId, ...other });
    },
  });
}

const inPipeline = statement({
  name: 'dealsToDelete',
  takes: { pipeline: uuid, most: nullable(integer) },
  row: { id: uuid },
  locks: true,
  text: ({ account, pipeline, most }) => sql`
    select t.id from deals t
    where t.account_id = ${account} and t.pipeline_id = ${pipeline} and t.deleted_at is null ${lockedUpTo(most)}`,
});

const remove = statement({
  name: 'deleteDealsOfPipeline',
  takes: { ids: listOf(uuid), now: instant },
  row: wholeDeals.shape,
  changes: true,
  text: ({ account, ids, now }) => sql`
    update deals t set deleted_at = ${now}, updated_at = ${now}
    where t.account_id = ${account} and t.id = any(${ids}) returning ${wholeDeals.columns}`,
});

/** A deleted pipeline takes its live deals along. */
export async function onPipelineDeleted(ctx: Context, { record }: DomainEvent): Promise<void> {
  await changeAll(ctx, {
    find: (most) => ctx.rows(inPipeline, { pipeline: record.id, most }),
    change: (ids) => ctx.rows(remove, { ids, now: ctx.now() }),
    tell: (deal) => emitDeal(ctx, 'deleted', deal),
  });
}

const linked = {
  of: wholeDeals,
  tell: (ctx: Context, deal: WholeDeal, changes: Changes) => emitDeal(ctx, 'updated', deal, changes),
};
const leaveUser = relinks(linked, 'assignedTo');

/** Contract DELETE /users/{id}: the deals of a removed user are assigned to nobody. */
export const onUserRemoved = (ctx: Context, { record }: DomainEvent) => leaveUser(ctx, record.id);

/** Contract POST /contacts/merge: the deals go on with the contact that is kept. */
export const onContactDeleted = followsContact(linked);

/** Keeps the time of the last activity where something was noted, planned or done about a deal. */
export async function touchDeal(ctx: Context, { dealId }: Pick<DomainEvent, 'dealId'>): Promise<void> {
  if (dealId) ctx.touch('Deal', dealId, { lastActivityAt: ctx.now() });
}
