import { check, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, integer, listOf, text, uuid } from '../../kernel/database/kinds.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

/** Digits of a position behind the point. */
const decimals = 15;

/** The position of a deal that comes into a column, behind what came before: its moment, in milliseconds. */
export const lastPosition = (now: Date) => `${now.getTime()}.${'0'.repeat(decimals)}`;

const gap = {
  /** Between the two neighbours, or beyond the end. */
  position: text,
  /** Whether it lies truly between them: two deals may have one position, or stand too close to each other. */
  fits: flag,
};

// So small that a column whose positions are spread does not grow beyond the moments at which new deals come.
const step = '1';

/** Positions that are spread are as far apart as this at least: room for some ten more deals at one place. */
const least = '0.000000000001';

/** How many deals behind a place are spread; the larger number where those of the smaller one stand too close together. */
const stretches = [200, 2000];

const first = statement({
  name: 'firstPosition',
  takes: { stage: uuid, deal: uuid },
  row: gap,
  text: ({ account, stage, deal }) => sql`
    select round(coalesce(min(position) - ${step}::numeric, 0), 15)::text as position, true as fits from deals
    where account_id = ${account} and stage_id = ${stage} and id <> ${deal} and deleted_at is null`,
});

/** A live deal of a column, alias `b`, behind which another one is put. */
const placed = (account: Sql, stage: Sql, deal: Sql, after: Sql) =>
  sql`b.account_id = ${account} and b.id = ${after} and b.stage_id = ${stage} and b.id <> ${deal} and b.deleted_at is null`;

/** The next deals behind `b`, in the order of the column, but for the one that is on its way. */
const following = (deal: Sql, most: Sql) => sql`
  select d.id, d.position from deals d where d.account_id = b.account_id and d.stage_id = b.stage_id and d.id <> ${deal}
  and d.deleted_at is null and (d.position, d.id) > (b.position, b.id) order by d.position, d.id limit ${most}`;

const behind = statement({
  name: 'positionBehind',
  takes: { stage: uuid, deal: uuid, after: uuid },
  row: gap,
  text: ({ account, stage, deal, after }) => sql`
    select target::text as position, coalesce(target > here and target < next, true) as fits from (
      select b.position as here, n.position as next, round(coalesce((b.position + n.position) / 2, b.position + ${step}::numeric), 15) as target
      from deals b left join lateral (${following(deal, sql`1`)}) n on true
      where ${placed(account, stage, deal, after)}) g`,
});

const hold = statement({
  name: 'holdDealsBehind',
  takes: { stage: uuid, deal: uuid, after: uuid, most: integer },
  row: { id: uuid },
  locks: true,
  // In the order of all who lock deals, so that they wait for each other instead of for ever.
  text: ({ account, stage, deal, after, most }) => sql`
    select h.id from deals h where h.account_id = ${account} and h.id = any(array(
      select f.id from deals b cross join lateral (${following(deal, most)}) f where ${placed(account, stage, deal, after)}))
    order by h.id for no key update`,
});

const spread = statement({
  name: 'spreadPositions',
  takes: { stage: uuid, deal: uuid, after: uuid, held: listOf(uuid) },
  changes: true,
  // Evenly, up to the first deal that is not held, which may have come between them; behind the last of the column, by steps.
  text: ({ account, stage, deal, after, held }) => sql`
    with found as (
      select f.id, f.position, b.position as here, f.id = any(${held}) as is_held, row_number() over (order by f.position, f.id) as nth
      from deals b cross join lateral (${following(deal, sql`cardinality(${held}) + 1`)}) f where ${placed(account, stage, deal, after)}),
    stretch as (
      select s.id, s.position, s.here, s.nth, e.position as bound from found s
      left join (select nth, position from found where not is_held order by nth limit 1) e on true where e.nth is null or s.nth < e.nth),
    room as (
      select count(*) + 1 as parts, coalesce(min(bound) - min(here),
        greatest(max(position) - min(here) + ${step}::numeric, (count(*) + 1) * ${step}::numeric)) as width from stretch)
    update deals t set position = s.here + r.width * s.nth / r.parts from stretch s cross join room r
    where t.account_id = ${account} and t.id = s.id and r.width >= r.parts * ${least}::numeric`,
});

interface MoveTarget {
  stage: string;
  deal: string;
  after: string | null;
}

/**
 * A position for a deal in a column, behind another, which is there, or, for null, before all. 422 naming the field for one of
 * another column or the deal itself. Where there is no room left, the deals behind the other one are spread, of a large column not all:
 * their order stays, also where somebody moves one meanwhile. It is the nearest position where the 2,000 behind it have no room either,
 * as thousands at one position.
 */
export async function positionBehind(ctx: Context, { stage, deal, after }: MoveTarget, field: string): Promise<string> {
  if (after === null) return (await ctx.rows(first, { stage, deal }))[0]!.position;
  const place = { stage, deal, after };
  let [between] = await ctx.rows(behind, place);
  for (const most of stretches) {
    if (!between || between.fits) break;
    // Held before they are read to be spread: what others have moved meanwhile stays where they moved it.
    const held = await ctx.rows(hold, { ...place, most });
    await ctx.rows(spread, { ...place, held: held.map(({ id }) => id) });
    [between] = await ctx.rows(behind, place);
  }
  check(between, () => unprocessable(field, 'not_allowed', 'must be another deal of the stage'));
  return between.position;
}
