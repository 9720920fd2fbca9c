import { instant, integer, nullable, type RowOf } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { Enrollment, EnrollmentConnection, EnrollmentList } from './enrollment.model.js';

/** An enrollment as it is kept; `attempt` is the number of the last attempt at its next step. */
export const enrollmentTable = table({
  row: modelRow('Enrollment', Enrollment, { attempt: integer, dueAt: nullable(instant), countsFrom: instant }),
  withoutEvents: ['countsFrom'],
  fixed: ['enrolledAt'],
  list: EnrollmentList,
  page: EnrollmentConnection,
  sorts: { createdAt: byTime('created_at'), updatedAt: byTime('updated_at'), nextEmailAt: byTime('next_email_at', true) },
  byDefault: ['createdAt', 'desc'],
  conditions: {
    status: (status) => sql`t.status = ${status}`,
    sequenceId: (id) => sql`t.sequence_id = ${id}::uuid`,
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  },
});

export type EnrollmentRow = RowOf<typeof enrollmentTable.shape>;
