import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';
import type { Sweep } from '../../kernel/database/sweep.js';

interface Runs {
  table: string;
  /** The column that names what they are runs of. */
  parent: string;
  /** Whether a run has ended, over the alias `r`. */
  isOver: Sql;
}

/**
 * Of an account, alias `a`, the first runs that ended before a moment. The latest one of each workflow or automation is none of them,
 * because it says when that ran last, nor is one whose webhook is still on its way.
 */
export function oldRunsOf({ table, parent, isOver }: Runs, columns: Sql, { before, most }: Parameters<Sweep['rows']>[0]): Sql {
  const [runs, of] = [rawSql(table), rawSql(parent)];
  return sql`
        select ${columns} from ${runs} r
        where r.account_id = a.id and r.started_at < ${before} and r.completed_at < ${before} and ${isOver}
          and exists (select from ${runs} later where later.account_id = r.account_id and later.${of} = r.${of}
            and (later.started_at, later.id) > (r.started_at, r.id))
          and not exists (select from webhook_deliveries d
            where d.account_id = r.account_id and d.source_id = r.${of} and d.due_at is not null and d.run_id = r.id)
        order by r.started_at, r.id limit ${most}`;
}
