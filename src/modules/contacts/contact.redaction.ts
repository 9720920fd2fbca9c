import { mayRead } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { json } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';

/** What a JSON value is: a record, or changes of one; or a payload, with a record in its `data`. */
type Form = 'record' | 'payload';

/** A JSON value as the caller may see it: to keys without the scope `contacts`, what it says of people is [redacted]. */
export const asSeenBy = (ctx: Context, value: Sql, form: Form): Sql =>
  mayRead(ctx.caller, 'contacts') ? value : sql`redact_people(${value}, ${rawSql(form === 'payload' ? '0' : '1')})`;

/** The same of what an action did, a step came to or conditions saw: addresses, texts with merge fields, values of fields of people. */
export const outcomeAsSeenBy = (ctx: Context, outcome: Sql): Sql =>
  mayRead(ctx.caller, 'contacts') ? outcome : sql`redact_outcome(${outcome})`;

/** The same of the actions of a run, whose configurations are no secret of anybody. */
export const actionsAsSeenBy = (ctx: Context, actions: Sql): Sql =>
  mayRead(ctx.caller, 'contacts')
    ? actions
    : sql`(
        select coalesce(jsonb_agg(a.value || jsonb_build_object('result', redact_outcome(a.value -> 'result')) order by a.nth), '[]')
        from jsonb_array_elements(${actions}) with ordinality a(value, nth))`;

type Result = Record<string, unknown> | null;

/** What came of actions and steps that were only tried, as the caller may see it. */
export async function resultsAsSeenBy(ctx: Context, results: readonly Result[]): Promise<Result[]> {
  if (mayRead(ctx.caller, 'contacts')) return [...results];
  const [row] = await ctx.select(
    { seen: json<Result[]>() },
    sql`select redact_outcome(${JSON.stringify(results)}::jsonb) as seen where ${ctx.caller.account.id}::uuid is not null`,
  );
  return row!.seen;
}
