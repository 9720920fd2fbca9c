import type { Sweep } from '../../kernel/context/registry.js';

/** Ended sessions and used tokens are kept a day longer, so that what is asked about them can be answered. */
const graceMs = 24 * 60 * 60 * 1000;
const before = (now: Date) => new Date(now.getTime() - graceMs);

/** Sessions and tokens that have ended. */
export const sweeps: readonly Sweep[] = [
  {
    sql: `delete from sessions where id in (
        select id from sessions where expires_at < $1::timestamptz or revoked_at < $1::timestamptz limit $2::int
      ) returning 1`,
    before,
  },
  { sql: 'delete from tokens where id in (select id from tokens where expires_at < $1::timestamptz limit $2::int) returning 1', before },
];
