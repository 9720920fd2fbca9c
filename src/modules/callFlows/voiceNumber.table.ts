import { sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { VoiceNumber, VoiceNumberConnection, VoiceNumberList } from './voiceNumber.model.js';

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
