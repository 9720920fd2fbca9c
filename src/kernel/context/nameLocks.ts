import { text } from '../database/kinds.js';
import { type Sql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';

/** The key of an account's lock of this name: the same for all who take it alone, share it or try it. */
export const lockKey = (account: Sql | string, name: Sql | string): Sql => sql`hashtextextended(${account}::text || ${name}::text, 0)`;

/** Takes a lock of the account alone. */
export const lockByName = statement({
  name: 'lockByName',
  takes: { name: text },
  row: { locked: text },
  locks: true,
  text: ({ account, name }) => sql`select pg_advisory_xact_lock(${lockKey(account, name)})::text as locked`,
});

/** Shares a lock of the account, as a part of a statement. */
export const sharedLock = (account: Sql | string, name: Sql | string): Sql => sql`pg_advisory_xact_lock_shared(${lockKey(account, name)})`;

/** Shares a lock of the account. */
export const shareByName = statement({
  name: 'shareByName',
  takes: { name: text },
  row: { locked: text },
  locks: true,
  text: ({ account, name }) => sql`select ${sharedLock(account, name)}::text as locked`,
});
