import { dayMs } from '../../kernel/base/durations.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import type { EnrollmentRow } from './enrollment.table.js';

/**
 * By how many milliseconds what is left of an enrollment is later since its step was put off: for a day or more, as while the workspace is
 * suspended. The worker of due rows puts off `dueAt` alone; all others move it together with `nextEmailAt`.
 */
export function putOffMs({ dueAt, nextEmailAt }: Pick<EnrollmentRow, 'dueAt' | 'nextEmailAt'>): number {
  const ms = dueAt && nextEmailAt ? dueAt.getTime() - nextEmailAt.getTime() : 0;
  return ms < dayMs ? 0 : ms;
}

/** The same in SQL: alias `e` is the enrollment. */
export const putOff: Sql = sql`case when e.due_at - e.next_email_at >= interval '24 hours' then e.due_at - e.next_email_at else interval '0' end`;
