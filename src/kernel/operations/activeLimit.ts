import { check, unprocessable } from '../base/errors.js';
import type { Context } from '../context/context.js';
import { integer } from '../database/kinds.js';
import { rawSql, type Sql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';

/** Records of a kind that are active at a time in one workspace, of what each event is held against. */
export const mostActive = 500;

interface Activated {
  /** What says in the input that one is active. */
  field: string;
  /** Which rows of the table are. */
  active: Sql;
}

/**
 * What refuses one more active record of a table: 422 naming the field, where `mostActive` of the workspace are. It is called before
 * that one is written; those who activate one come one after the other.
 */
export function activeLimit(table: string, { field, active }: Activated): (ctx: Context) => Promise<void> {
  const count = statement({
    name: `count active ${table}`,
    row: { n: integer },
    text: ({ account }) => sql`select count(*)::int as n from ${rawSql(table)} where account_id = ${account} and ${active}`,
  });
  return async (ctx) => {
    await ctx.lockName(`active ${table}`);
    const [counted] = await ctx.rows(count);
    check(counted!.n < mostActive, () =>
      unprocessable(field, 'too_many', `cannot be set: the limit of ${mostActive} active ${table} is reached`),
    );
  };
}
