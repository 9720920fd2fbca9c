import type { Context } from '../../kernel/context/context.js';
import { json, nullable, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import type { VoiceConfig } from '../../vendors/sms/voice.js';

const tombstone = { id: uuid, priorConfig: nullable(json<VoiceConfig>()) };

const byNumber = statement({
  name: 'tombstoneOfNumber',
  takes: { number: text },
  row: tombstone,
  text: ({ account, number }) => sql`
    select id, prior_config as "priorConfig" from call_flow_tombstones
    where account_id = ${account} and phone_number = ${number} and released_at is null`,
});

/** What is kept of a number that a flow has left, and that still comes to the service as far as anybody knows. */
export const tombstoneOf = async (ctx: Context, number: string) => (await ctx.rows(byNumber, { number }))[0];

/** Marks a tombstone as released, in a unit of work. */
export const released = (inside: Context, id: string): void =>
  void inside.update('CallFlowTombstone', { id }, { releasedAt: inside.now() });

/** Marks a tombstone as released, in a unit of work of its own. */
export const release = (ctx: Context, id: string): Promise<void> => ctx.transaction(async (inside) => released(inside, id));

const leaving = statement({
  name: 'leaveTombstone',
  takes: { id: uuid },
  row: { number: text },
  changes: true,
  // With what the flow kept of how the number was routed before.
  text: ({ account, id }) => sql`
    insert into call_flow_tombstones as d (account_id, id, phone_number, call_flow_id, prior_config, created_at, updated_at)
    select account_id, gen_random_uuid(), phone_number, id, prior_config, updated_at, updated_at from call_flows
    where account_id = ${account} and id = ${id} and phone_number is not null
    on conflict (account_id, phone_number) where released_at is null
    do update set updated_at = excluded.updated_at, prior_config = coalesce(d.prior_config, excluded.prior_config)
    returning phone_number as number`,
});

/** Leaves a tombstone of the number of a flow that is about to be unpublished. Answers the number. */
export const leaveTombstone = async (inside: Context, id: string) => (await inside.rows(leaving, { id }))[0]?.number;

const leavingLate = statement({
  name: 'leaveTombstoneLate',
  takes: { id: uuid, number: text, prior: nullable(json<VoiceConfig>()) },
  row: { number: text },
  changes: true,
  text: ({ account, id, number, prior }) => sql`
    insert into call_flow_tombstones as d (account_id, id, phone_number, call_flow_id, prior_config, created_at, updated_at)
    select account_id, gen_random_uuid(), ${number}, id, ${prior}::jsonb, updated_at, updated_at from call_flows f
    where account_id = ${account} and id = ${id} and not exists (select from call_flows o
      where o.account_id = f.account_id and o.phone_number = ${number} and o.published_version is not null)
    on conflict (account_id, phone_number) where released_at is null
    do update set updated_at = excluded.updated_at, prior_config = coalesce(d.prior_config, excluded.prior_config)
    returning phone_number as number`,
});

/**
 * Leaves a tombstone of a number that was wired for a flow while that was unpublished. Whether it did: not where a flow answers the
 * number.
 */
export const leaveTombstoneLate = (ctx: Context, of: { id: string; number: string; prior: VoiceConfig | null }): Promise<boolean> =>
  ctx.transaction(async (inside) => (await inside.rows(leavingLate, of)).length > 0);
