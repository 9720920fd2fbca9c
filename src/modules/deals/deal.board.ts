import { check, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
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

const first = statement({
  name: 'firstPosition',
  takes: { stage: uuid, deal: uuid },
  row: gap,
  text: ({ account, stage, deal }) => sql`
    select round(coalesce(min(position) - ${step}::numeric, 0), 15)::text as position, true as fits from deals
    where account_id = ${account} and stage_id = ${stage} and id <> ${deal} and deleted_at is null`,
});

const behind = statement({
  name: 'positionBehind',
  takes: { stage: uuid, deal: uuid, after: uuid },
  row: gap,
  text: ({ account, stage, deal, after }) => sql`
    select target::text as position, coalesce(target > here and target < next, true) as fits from (
      select b.position as here, n.position as next, round(coalesce((b.position + n.position) / 2, b.position + ${step}::numeric), 15) as target
      from deals b left join lateral (
        select d.position from deals d where d.account_id = b.account_id and d.stage_id = b.stage_id and d.id <> ${deal}
        and d.deleted_at is null and (d.position, d.id) > (b.position, b.id) order by d.position, d.id limit 1) n on true
      where b.account_id = ${account} and b.id = ${after} and b.stage_id = ${stage} and b.id <> ${deal}
      and b.deleted_at is null) g`,
});

const spread = statement({
  name: 'spreadPositions',
  takes: { stage: uuid },
  changes: true,
  text: ({ account, stage }) => sql`
    update deals t set position = n.position from (
      select id, min(position) over () + ${step}::numeric * (row_number() over (order by position, id) - 1) as position from deals
      where account_id = ${account} and stage_id = ${stage} and deleted_at is null) n
    where t.account_id = ${account} and t.id = n.id`,
});

interface MoveTarget {
  stage: string;
  deal: string;
  after: string | null;
}

/**
 * A position for a deal in a column, behind another, which is there, or, for null, before all. 422 naming the field for one of
 * another column or the deal itself. Where there is no room left, the column is spread: its order stays.
 */
export async function positionBehind(ctx: Context, { stage, deal, after }: MoveTarget, field: string): Promise<string> {
  if (after === null) return (await ctx.rows(first, { stage, deal }))[0]!.position;
  const [between] = await ctx.rows(behind, { stage, deal, after });
  if (between?.fits) return between.position;
  if (between) await ctx.rows(spread, { stage });
  const [wider] = await ctx.rows(behind, { stage, deal, after });
  check(wider, () => unprocessable(field, 'not_allowed', 'must be another deal of the stage'));
  return wider.position;
}
