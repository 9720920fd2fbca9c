import { sql } from '../../kernel/database/sql.js';
import { byTime, modelRow, table } from '../../kernel/tables/index.js';
import { RosterList, RosterMember, RosterMemberConnection } from './roster.model.js';

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
