import type { Context } from '../../kernel/context/context.js';
import { instant, listOf, nullable, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { effectKeysOf, outcomeTtlMs } from '../../kernel/operations/idempotency.js';

const row = { id: uuid, createdAt: instant, scheduledAt: nullable(instant) };

const byKey = statement({
  name: 'messageByActionKey',
  takes: { keys: listOf(text) },
  row,
  planned: true,
  text: ({ account, keys }) => sql`
    select t.id, t.created_at as "createdAt", t.scheduled_at as "scheduledAt" from messages t
    where t.account_id = ${account} and t.action_key = any(${keys}) order by t.created_at desc limit 1`,
});

const forgetKey = statement({
  name: 'forgetActionKey',
  takes: { id: uuid },
  changes: true,
  text: ({ account, id }) => sql`update messages set action_key = null where account_id = ${account} and id = ${id}`,
});

/** The one effect, a message, of a request under an `Idempotency-Key`. */
export interface RequestEffect {
  /** What the message is kept under; undefined where the request has no key. */
  key?: string;
  /** What an earlier request under the key has kept, whose outcome was not, or was not final: this one goes on with it. */
  known?: RowOf<typeof row>;
  /** What has the key still, though it is free: as all are after a day. */
  old?: RowOf<typeof row>;
}

/** What a request that sends a message by `effect` is known by, and what was kept of it before. */
export async function effectOf(ctx: Context, effect: string, input: object): Promise<RequestEffect> {
  const keys = effectKeysOf(ctx, effect, input);
  const [key] = keys;
  const [found] = key ? await ctx.rows(byKey, { keys }) : [];
  if (!found) return { key };
  return ctx.now().getTime() - found.createdAt.getTime() < outcomeTtlMs ? { key, known: found } : { key, old: found };
}

/** Makes room for a message under the key of its request. */
export async function releaseKey(ctx: Context, { old }: RequestEffect): Promise<void> {
  if (old) await ctx.rows(forgetKey, { id: old.id });
}
