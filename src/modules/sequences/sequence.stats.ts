import { found } from '../../kernel/base/errors.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { inOrder } from '../../kernel/context/loaders.js';
import { listOf, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { batched } from '../../kernel/operations/loader.js';
import { shapeOf } from '../../kernel/tables/modelRow.js';
import { SequenceStats } from './sequence.model.js';

const stats = statement({
  name: 'sequenceStats',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, ...shapeOf(SequenceStats) },
  text: ({ account, ids }) => sql`
    select s.id, r.*, round(r.opened::numeric / greatest(r.sent, 1), 4)::float8 as "openRate",
      round(r.clicked::numeric / greatest(r.sent, 1), 4)::float8 as "clickRate"
    from sequences s cross join lateral (
      select count(*)::int as enrolled, count(*) filter (where e.status = 'active')::int as active,
        count(*) filter (where e.status = 'completed')::int as completed,
        count(*) filter (where e.status = 'unsubscribed' or e.has_left)::int as unsubscribed,
        count(*) filter (where e.end_reason = 'replied' or e.has_replied)::int as replied,
        coalesce(sum(e.sent), 0)::int as sent, coalesce(sum(e.opened), 0)::int as opened, coalesce(sum(e.clicked), 0)::int as clicked,
        coalesce(sum(e.bounced), 0)::int as bounced
      from (
        select e.status, e.end_reason, bool_or(a.replied_at is not null) as has_replied, bool_or(a.unsubscribed_at is not null) as has_left,
          count(a.sent_at) as sent,
          count(a.sent_at) filter (where a.opened_at is not null or a.clicked_at is not null) as opened,
          count(a.sent_at) filter (where a.clicked_at is not null) as clicked,
          count(*) filter (where a.bounced_at is not null or a.status = 'failed' and a.error in ('bounced', 'refused')) as bounced
        from enrollments e left join messages a on a.account_id = e.account_id and a.enrollment_id = e.id
        where e.account_id = s.account_id and e.sequence_id = s.id group by e.id, e.status, e.end_reason) e) r
    where s.account_id = ${account} and s.id = any(${ids})`,
});

/**
 * The stats of many sequences in one statement; null for one that is none. Rates of nothing are 0. It looks at every mail that ever went,
 * so it takes its turn among the reads that take long.
 */
const statsOfSequence = batched<SequenceStats | null>(async (ctx, ids) =>
  inOrder(ids, await ctx.longRead(() => ctx.rows(stats, { ids })), (row) => row.id),
);

/** Contract GET /emails/sequences/{id}/stats: 404 for what is no sequence. */
export async function sequenceStats(ctx: Context, id: string): Promise<SequenceStats> {
  return found(await statsOfSequence(ctx, validId(id, 'Sequence')), 'Sequence');
}
