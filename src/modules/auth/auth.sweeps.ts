import { dayMs } from '../../kernel/base/durations.js';
import { sql } from '../../kernel/database/sql.js';
import { expiredRows, type Sweep } from '../../kernel/database/sweep.js';

/** Ended sessions and used tokens are kept a day longer, so that what is asked about them can be answered. */
const graceMs = dayMs;
const aDayAgo = (now: Date) => new Date(now.getTime() - graceMs);

export const endedSessions: Sweep = {
  rows: ({ before, most }) => sql`delete from sessions where id in (
        select id from sessions where expires_at < ${before} or revoked_at < ${before} limit ${most}
      ) returning 1`,
  before: aDayAgo,
};

export const endedTokens: Sweep = { ...expiredRows('tokens', ['id']), before: aDayAgo };
