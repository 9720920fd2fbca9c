import type { Fault } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { listOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

const templates = statement({
  name: 'templateChannels',
  takes: { ids: listOf(uuid) },
  row: { id: uuid, channel: text },
  shared: true,
  text: ({ account, ids }) =>
    sql`select id, channel from templates where account_id = ${account} and id = any(${ids}) and archived_at is null`,
});

/** What templates are for, of those that are there. */
export async function channelsOf(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  const found = wanted.length > 0 ? await ctx.rows(templates, { ids: wanted }) : [];
  return new Map(found.map(({ id, channel }) => [id, channel]));
}

/** What is wrong with a template that is to be mailed. */
export const isOfTexts: Fault = { code: 'conflicting', message: 'names a template of text messages' };

/**
 * Has the next write hold a template that is to be mailed: who archives it, or makes it one of text messages, finds what names it, or is
 * found by it.
 */
export function holdForMail(ctx: Context, id: string): void {
  const there = sql`account_id = ${ctx.caller.account.id}::uuid and id = ${id}::uuid and archived_at is null and channel = 'email'`;
  ctx.requireRow(`template ${id}`, sql`select 1 from templates where ${there} for share`);
}
