import { check, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { flag, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { checkReferences } from '../../kernel/operations/references.js';

const places = 15;

/** Where a deal that comes into a column stands, behind what came before: its moment, in milliseconds. */
export const lastPlace = (now: Date) => `${now.getTime()}.${'0'.repeat(places)}`;

const gap = {
  /** A place between the two neighbours, or beyond the end. */
  place: text,
  /** Whether it lies truly between them: two deals may stand at one place, or too close to each other. */
  fits: flag,
};

// So small that a column whose places are spread does not grow beyond the moments at which new deals come.
const step = '1';

const first = statement({
  name: 'firstPlace',
  takes: { stage: uuid, deal: uuid },
  row: gap,
  text: ({ account, stage, deal }) => sql`
    select round(coalesce(min(position) - ${step}::numeric, 0), 15)::text as place, true as fits from deals
    where account_id = ${account} and stage_id = ${stage} and id <> ${deal} and deleted_at is null`,
});

const behind = statement({
  name: 'placeBehind',
  takes: { stage: uuid, deal: uuid, after: uuid },
  row: gap,
  text: ({ account, stage, deal, after }) => sql`
    select place::text as place, coalesce(place > here and place < next, true) as fits from (
      select b.position as here, n.position as next, round(coalesce((b.position + n.position) / 2, b.position + ${step}::numeric), 15) as place
      from deals b left join lateral (
        select d.position from deals d where d.account_id = b.account_id and d.stage_id = b.stage_id and d.id <> ${deal}
        and d.deleted_at is null and (d.position, d.id) > (b.position, b.id) order by d.position, d.id limit 1) n on true
      where b.account_id = ${account} and b.id = ${after} and b.stage_id = ${stage} and b.id <> ${deal}
      and b.deleted_at is null) g`,
});

const spread = statement({
  name: 'spreadPlaces',
  takes: { stage: uuid },
  changes: true,
  text: ({ account, stage }) => sql`
    update deals t set position = n.place from (
      select id, min(position) over () + ${step}::numeric * (row_number() over (order by position, id) - 1) as place from deals
      where account_id = ${account} and stage_id = ${stage} and deleted_at is null) n
    where t.account_id = ${account} and t.id = n.id`,
});

interface Place {
  stage: string;
  deal: string;
  after: string | null;
}

/**
 * A place for a deal in a column, behind another or, for null, before all. 400 for a deal that is not there, 422 for one of
 * another column or the deal itself, naming the field. Where there is no room left, the column is spread: its order stays.
 */
export async function placeBehind(ctx: Context, { stage, deal, after }: Place, field: string): Promise<string> {
  if (after === null) return (await ctx.rows(first, { stage, deal }))[0]!.place;
  const [between] = await ctx.rows(behind, { stage, deal, after });
  if (between?.fits) return between.place;
  await checkReferences(ctx, { [field]: 'deal' }, { [field]: after });
  if (between) await ctx.rows(spread, { stage });
  const [wider] = await ctx.rows(behind, { stage, deal, after });
  check(wider, () => unprocessable(field, 'not_allowed', 'must be another deal of the stage'));
  return wider.place;
}
