import type { Context } from '../../kernel/context/context.js';
import { type Sql, sql } from '../../kernel/database/sql.js';
import { midnight } from '../../kernel/tables/dateRanges.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import {
  CallFlow,
  CallFlowConnection,
  CallFlowList,
  CallFlowVersion,
  CallFlowVersionConnection,
  CallFlowVersionList,
} from './callFlow.model.js';

/** Calls of today that a flow answered, over the alias `t`. */
export const callsToday = (ctx: Context): Sql => sql`(
  select count(*)::int from calls c where c.account_id = t.account_id and c.call_flow_id = t.id and c.started_at >= ${midnight(ctx, 0)})`;

/** A flow as it is kept. */
export const callFlowRow = modelRow('CallFlow', CallFlow);

export const callFlowTable = table({
  row: callFlowRow,
  withoutEvents: ['priorConfig'],
  toldBy: { draftGraph: 'draftRevision', publishedGraph: 'publishedVersion' },
  neverTold: ['callsToday'],
  list: CallFlowList,
  page: CallFlowConnection,
  what: 'Call flow',
  computed: { callsToday: { sql: callsToday, counts: true } },
  carried: ['callsToday'],
  sorts: { createdAt: byTime('created_at') },
  byDefault: ['createdAt', 'desc'],
  conditions: { isPublished: (is) => (is ? sql`t.published_version is not null` : sql`t.published_version is null`) },
});

/** What was published of flows: it stays as it is. */
export const callFlowVersionTable = table({
  row: modelRow('CallFlowVersion', CallFlowVersion),
  list: CallFlowVersionList,
  page: CallFlowVersionConnection,
  what: 'Version',
  counted: false,
  sorts: { version: { by: 't.version', type: 'integer' }, createdAt: byTime('created_at') },
  byDefault: ['version', 'desc'],
  conditions: { callFlowId: (id) => sql`t.call_flow_id = ${id}::uuid` },
});
