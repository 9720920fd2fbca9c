import { check, unprocessable } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import { integer } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';

/** Workflows that are active at a time in one workspace, and as many automations: each event is held against all that wait for it. */
export const mostActive = 500;

const row = { n: integer };
const counts = {
  workflows: statement({
    name: 'countActiveWorkflows',
    row,
    text: ({ account }) => sql`select count(*)::int as n from workflows where account_id = ${account} and is_active and deleted_at is null`,
  }),
  automations: statement({
    name: 'countActiveAutomations',
    row,
    text: ({ account }) => sql`select count(*)::int as n from automations where account_id = ${account} and active and deleted_at is null`,
  }),
};

/** Throws 422 where one more of a kind must not become active. Those who activate one come one after the other. */
export async function checkActive(ctx: Context, kind: keyof typeof counts, field: string): Promise<void> {
  await ctx.lockName(`active ${kind}`);
  const [counted] = await ctx.rows(counts[kind]);
  check(counted!.n < mostActive, () =>
    unprocessable(field, 'too_many', `cannot be set: the limit of ${mostActive} active ${kind} is reached`),
  );
}
