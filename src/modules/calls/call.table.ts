import { sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/tables/dateRanges.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { Call, CallConnection, CallList } from './call.model.js';

export const callTable = table({
  row: modelRow('Call', Call),
  list: CallList,
  page: CallConnection,
  fixed: ['startedAt'],
  sorts: { startedAt: byTime('started_at'), createdAt: byTime('created_at') },
  byDefault: ['startedAt', 'desc'],
  conditions: {
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    userId: (id) => sql`t.user_id = ${id}::uuid`,
    dateFrom: (moment, ctx) => since('t.started_at', moment, ctx),
    dateTo: (moment, ctx) => until('t.started_at', moment, ctx),
    direction: (direction) => sql`t.direction = ${direction}`,
    status: (status) => sql`t.status = ${status}`,
  },
});
