import { found } from '../../kernel/base/errors.js';
import { type Batch, type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { listOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { shapeOf } from '../../kernel/tables/modelRow.js';
import { SequenceStats } from './sequence.model.js';

const stats = statement({
  name: 'sequenceStats',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, ...shapeOf(SequenceStats) },
  text: ({ account, ids }) => sql`
    select s.id, r.*, m.*, round(m.opened::numeric / greatest(m.sent, 1), 4)::float8 as "openRate",
      round(m.clicked::numeric / greatest(m.sent, 1), 4)::float8 as "clickRate"
    from sequences s cross join lateral (
      select count(*)::int as enrolled, count(*) filter (where e.status = 'active')::int as active,
        count(*) filter (where e.status = 'completed')::int as completed, count(*) filter (where e.status = 'unsubscribed')::int as unsubscribed,
        count(*) filter (where e.end_reason = 'replied' or exists (
          select 1 from messages a where a.account_id = e.account_id and a.enrollment_id = e.id and a.replied_at is not null))::int as replied
      from enrollments e where e.account_id = s.account_id and e.sequence_id = s.id) r
    cross join lateral (
      select count(*) filter (where a.sent_at is not null)::int as sent,
        count(*) filter (where a.sent_at is not null and (a.opened_at is not null or a.clicked_at is not null))::int as opened,
        count(*) filter (where a.sent_at is not null and a.clicked_at is not null)::int as clicked,
        count(*) filter (where a.bounced_at is not null or a.status = 'failed' and a.error in ('bounced', 'refused'))::int as bounced
      from enrollments e join messages a on a.account_id = e.account_id and a.enrollment_id = e.id
      where e.account_id = s.account_id and e.sequence_id = s.id) m
    where s.account_id = ${account} and s.id = any(${ids})`,
});

/** The stats of many sequences in one statement; null for one that is none. Rates of nothing are 0. */
export const statsOfSequences: Batch<SequenceStats | null> = async (ctx, ids) =>
  inOrder(ids, await ctx.rows(stats, { ids }), (row) => row.id);

/** Contract GET /emails/sequences/{id}/stats: 404 for what is no sequence. */
export async function sequenceStats(ctx: Context, id: string): Promise<SequenceStats> {
  return found(await ctx.load.sequenceStats.fresh(validId(id, 'Sequence')), 'Sequence');
}
