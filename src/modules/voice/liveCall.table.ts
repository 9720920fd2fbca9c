import { sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { LiveCall, LiveCallConnection, LiveCallList } from './liveCall.model.js';

export const liveCallTable = table({
  row: modelRow('LiveCall', LiveCall),
  withoutEvents: ['choices'],
  fixed: ['startedAt'],
  list: LiveCallList,
  page: LiveCallConnection,
  what: 'Call',
  counted: false,
  sorts: { startedAt: byTime('started_at') },
  byDefault: ['startedAt', 'desc'],
  conditions: {
    contactId: (id) => sql`t.contact_id = ${id}::uuid`,
    userId: (id) => sql`t.user_id = ${id}::uuid`,
    callFlowId: (id) => sql`t.call_flow_id = ${id}::uuid`,
    status: (status) => sql`t.status = ${status}`,
  },
});
