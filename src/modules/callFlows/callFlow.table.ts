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
import { RosterList, RosterMember, RosterMemberConnection, VoiceNumber, VoiceNumberConnection, VoiceNumberList } from './roster.model.js';

/** Calls of today that a flow answered, over the alias `t`. */
export const callsToday = (ctx: Context): Sql => sql`(
  select count(*)::int from calls c where c.account_id = t.account_id and c.call_flow_id = t.id and c.started_at >= ${midnight(ctx, 0)})`;

/** A flow as it is kept. */
export const callFlowRow = modelRow('CallFlow', CallFlow);

export const callFlowTable = table({
  row: callFlowRow,
  withoutEvents: ['priorConfig'],
  list: CallFlowList,
  page: CallFlowConnection,
  what: 'Call flow',
  computed: { callsToday },
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

/**
 * Whether a member takes calls, over the alias `t`: who is on the line of a live call takes none. One whose line is free takes calls
 * again, also where the end of the call is never heard of.
 */
export const presence = sql`case when exists (
  select 1 from live_calls l where l.account_id = t.account_id and l.user_id = t.user_id and l.answered_at is not null
    and l.line_free_at is null) then 'call' else t.presence end`;

/** The active members of a workspace as those whom flows ring. */
export const rosterTable = table({
  row: modelRow('Membership', RosterMember),
  list: RosterList,
  page: RosterMemberConnection,
  key: 'user_id',
  renamed: { did: 'phone' },
  computed: { presence },
  carried: ['presence'],
  live: sql`t.status = 'active'`,
  counted: false,
  sorts: { createdAt: { ...byTime('created_at'), description: 'By when they became members' } },
  byDefault: ['createdAt', 'asc'],
  conditions: { presence: (wanted) => sql`${presence} = ${wanted}` },
});

/** The numbers of a workspace that take calls. */
export const voiceNumberTable = table({
  row: modelRow('PhoneNumber', VoiceNumber),
  list: VoiceNumberList,
  page: VoiceNumberConnection,
  computed: {
    claimedBy: sql`coalesce(
      (select json_build_object('type', 'call_flow', 'id', f.id, 'name', f.name) from call_flows f
       where f.account_id = t.account_id and f.phone_number = t.number and f.published_version is not null),
      case when t.claimed_by is not null then json_build_object('type', t.claimed_by, 'id', t.claimed_by_id, 'name', null) end)`,
  },
  carried: ['claimedBy'],
  live: sql`t.has_voice`,
  counted: false,
  sorts: { createdAt: { ...byTime('created_at'), description: 'By when the workspace claimed them' } },
  byDefault: ['createdAt', 'asc'],
  conditions: { number: (number) => sql`t.number = ${number}` },
});
