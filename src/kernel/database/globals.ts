/**
 * Tables without an account-first key: they are looked up by hash, e-mail, number or public id before an account is
 * known, or belong to none. Every other table is a tenant table, and a test holds it to the tenancy rules.
 */
export const globalTables = [
  'accounts',
  'users',
  'sessions',
  'api_keys',
  'tokens',
  'phone_numbers',
  'public_forms',
  // who logs in or registers is in no account yet
  'public_outcomes',
  'feed_floor',
  '_prisma_migrations',
] as const;

/**
 * Plain indexes of tenant tables that do not begin with account_id, because their reader does not know the account yet. Besides them
 * only the unique index of `id` does: an id that a client chose is to be taken in no account.
 */
export const crossAccountIndexes = [
  'messages_due',
  'enrollments_due',
  'workflow_runs_due',
  'vendor_connections_due',
  'automations_due',
  'automation_runs_due',
  // the sweep forgets old keys of all accounts
  'messages_keyed_by_time',
  // so does that of outcomes
  'idempotency_keys_expires_at_idx',
  // what the vendor says of the end of a call is taken for the account that it is live in, or in whose log it is
  'live_calls_provider_id_idx',
  'calls_by_provider_id',
  // an opt-out at a number of nobody's is that of every account which wrote from there
  'messages_by_numbers',
  // login starts from the person
  'memberships_user_id_idx',
  // the relay takes the events of all accounts in the order in which they were written
  'outbox_events_seq_idx',
] as const;
