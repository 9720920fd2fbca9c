import type { Context } from '../context/context.js';
import { instant, jsonText, text, uuid } from '../database/kinds.js';
import { rawSql, type Sql, sql } from '../database/sql.js';
import { statement } from '../database/statement.js';

// What was done outside of the database for a due row must not be done twice because the row cannot be written: somebody holds it for
// longer than it is waited for, as a large merge does. So it is noted beside the row, where nobody waits for whoever holds that, and
// whoever takes the row next settles it by the note.

/** The row whose outcome is noted: of which table, and its id. */
interface DueRowOf {
  table: string;
  id: string;
}

const noting = statement({
  name: 'noteOutcome',
  takes: { table: text, id: uuid, outcome: jsonText, now: instant },
  changes: true,
  text: ({ account, table, id, outcome, now }) => sql`
    insert into due_outcomes (account_id, kind, id, outcome, created_at) values (${account}, ${table}, ${id}, ${outcome}::jsonb, ${now})
    on conflict (account_id, kind, id) do nothing`,
});

const forgetting = statement({
  name: 'forgetOutcome',
  takes: { table: text, id: uuid },
  changes: true,
  text: ({ account, table, id }) => sql`delete from due_outcomes where account_id = ${account} and kind = ${table} and id = ${id}`,
});

/** Notes what came of the work on a due row, outside of any transaction; what was noted first stands. */
export async function noteOutcome(ctx: Context, row: DueRowOf, outcome: object): Promise<void> {
  await ctx.rows(noting, { ...row, outcome: JSON.stringify(outcome), now: ctx.now() });
}

/** Forgets what was noted of a row, in the transaction that settles it. */
export async function forgetOutcome(inside: Context, row: DueRowOf): Promise<void> {
  await inside.rows(forgetting, { ...row });
}

/** What was noted of a row of a table, under an alias: JSON, null for nothing. */
export const notedOutcome = (table: string, alias: string): Sql =>
  rawSql(`(select o.outcome from due_outcomes o where o.account_id = ${alias}.account_id and o.kind = '${table}' and o.id = ${alias}.id)`);
