import { check, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { sql, statement } from '../../kernel/database/sql.js';
import { checkReferences } from '../../kernel/operations/references.js';

const places = 15;

/** Where a deal that comes into a column stands, behind what came before: its moment, in milliseconds. */
export const lastPlace = (now: Date) => `${now.getTime()}.${'0'.repeat(places)}`;

interface Gap {
  /** A place between the two neighbours, or beyond the end. */
  place: string;
  /** Whether it lies truly between them: two deals may stand at one place, or too close to each other. */
  fits: boolean;
}

// So small that a column whose places are spread does not grow beyond the moments at which new deals come.
const step = '1';

const first = statement<Gap, [stage: string, deal: string]>(
  (account, stage, deal) => sql`
    select round(coalesce(min(position) - ${step}::numeric, 0), 15)::text as place, true as fits from deals
    where account_id = ${account}::uuid and stage_id = ${stage}::uuid and id <> ${deal}::uuid and deleted_at is null`,
);

const behind = statement<Gap, [stage: string, deal: string, after: string]>(
  (account, stage, deal, after) => sql`
    select place::text as place, coalesce(place > here and place < next, true) as fits from (
      select b.position as here, n.position as next, round(coalesce((b.position + n.position) / 2, b.position + ${step}::numeric), 15) as place
      from deals b left join lateral (
        select d.position from deals d where d.account_id = b.account_id and d.stage_id = b.stage_id and d.id <> ${deal}::uuid
        and d.deleted_at is null and (d.position, d.id) > (b.position, b.id) order by d.position, d.id limit 1) n on true
      where b.account_id = ${account}::uuid and b.id = ${after}::uuid and b.stage_id = ${stage}::uuid and b.id <> ${deal}::uuid
      and b.deleted_at is null) g`,
);

const spread = statement<never, [stage: string]>(
  (account, stage) => sql`
    update deals t set position = n.place from (
      select id, min(position) over () + ${step}::numeric * (row_number() over (order by position, id) - 1) as place from deals
      where account_id = ${account}::uuid and stage_id = ${stage}::uuid and deleted_at is null) n
    where t.account_id = ${account}::uuid and t.id = n.id`,
);

/**
 * A place for a deal in a column, behind another or, for null, before all. 400 for a deal that is not there, 422 for one of
 * another column or the deal itself. Where there is no room left, the column is spread: its order stays.
 */
export async function placeBehind(ctx: Context, stage: string, deal: string, after: string | null): Promise<string> {
  if (after === null) return (await ctx.query(first, stage, deal))[0]!.place;
  const [gap] = await ctx.query(behind, stage, deal, after);
  if (gap?.fits) return gap.place;
  await checkReferences(ctx, { afterDealId: 'deal' }, { afterDealId: after });
  if (gap) await ctx.query(spread, stage);
  const [wider] = await ctx.query(behind, stage, deal, after);
  check(wider, () => unprocessable('afterDealId', 'not_allowed', 'must be another deal of the stage'));
  return wider.place;
}
