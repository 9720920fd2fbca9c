import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import { json, nullable, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

const causesOf = statement({
  name: 'causesOfMessage',
  takes: { id: uuid },
  row: { causes: nullable(json<Cause[]>()) },
  text: ({ account, id }) => sql`select m.causes from messages m where m.account_id = ${account} and m.id = ${id}`,
});

/**
 * As of the runs behind a mail of ours: what a machine answers to it is their doing, and may not start them again without end. So it is
 * with a report of what became of it, which ends a wait of the run that sent it all the same: it is marked so, also for processes of the
 * version before, whose waits go by the mark alone.
 */
export async function asOfRunsBehind(ctx: Context, id: string, { isReport }: Pick<Cause, 'isReport'> = {}): Promise<Context> {
  const [sent] = await ctx.rows(causesOf, { id });
  const causes = (sent?.causes ?? []).map((cause) => ({ ...cause, ...(isReport && { isReport }) }));
  return causes.length > 0 ? ctx.within(causes, ctx.caller.actor!) : ctx;
}
