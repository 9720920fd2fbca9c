import { dayMs } from '../../kernel/base/durations.js';
import { sql } from '../../kernel/database/sql.js';
import type { Sweep } from '../../kernel/database/sweep.js';

const keptMs = 30 * dayMs;

/** Decisions, "idempotency": the key of a text message is kept for 30 days, and then free for another. */
export const oldKeys: Sweep = {
  rows: ({ before, most }) => sql`update messages m set idempotency_key = null, request_hash = null from (
      select account_id, id from messages where idempotency_key is not null and created_at < ${before} limit ${most}
    ) old where m.account_id = old.account_id and m.id = old.id returning 1`,
  before: (now) => new Date(now.getTime() - keptMs),
};
