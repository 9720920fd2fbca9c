import { dayMs } from '../../kernel/base/durations.js';
import { sql } from '../../kernel/database/sql.js';
import type { Sweep } from '../../kernel/database/sweep.js';

/** Ended sessions and tokens are kept a day longer, so that what is asked about them can be answered. */
const graceMs = dayMs;
const aDayAgo = (now: Date) => new Date(now.getTime() - graceMs);

export const endedSessions: Sweep = {
  rows: ({ before, most }) => sql`delete from sessions where id in (
        select id from sessions where expires_at < ${before} or revoked_at < ${before} limit ${most}
      ) returning 1`,
  before: aDayAgo,
};

/** The last invitation of somebody who is no member, not yet or no longer, is kept: the next one goes by its names. */
export const endedTokens: Sweep = {
  rows: ({ before, most }) => sql`delete from tokens where id in (
        select t.id from tokens t where t.expires_at < ${before} and not (t.kind = 'invite'
          and exists (select 1 from memberships m
            where m.account_id = t.account_id and m.user_id = t.user_id and m.status in ('invited', 'removed'))
          and not exists (select 1 from tokens later where later.user_id = t.user_id and later.kind = t.kind
            and later.account_id = t.account_id and (later.created_at, later.id) > (t.created_at, t.id))) limit ${most}
      ) returning 1`,
  before: aDayAgo,
};
