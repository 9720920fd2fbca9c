import { mayRead, mayUse } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { json } from '../../kernel/database/kinds.js';
import { rawSql, type Sql, sql } from '../../kernel/database/sql.js';

/**
 * What is shown of events besides the feed, by deliveries and runs, as an API key or a session may see it. Of an event that the caller may
 * not see the record is [redacted] but for ids; of any other what it says of people, to keys without the scope `contacts`.
 */

/** What a JSON value is: a record, or changes of one; or a payload, with a record in its `data`. */
type Form = 'record' | 'payload';

/** The events that a caller may not see. Those of contacts are not among them: the contract has only what is personal hidden of these. */
function hiddenEvents({ app, caller }: Context): string[] {
  const events = [...app.registry.events];
  return events.filter(([, { access }]) => access.scope !== 'contacts' && !mayUse(caller, access)).map(([name]) => name);
}

/** A value by whether the caller may see the event, of that name or none. */
function byEvent(ctx: Context, event: Sql, { hidden, shown }: { hidden: Sql; shown: Sql }): Sql {
  const names = hiddenEvents(ctx);
  return names.length === 0 ? shown : sql`(case when ${event} = any(${names}::text[]) then ${hidden} else ${shown} end)`;
}

/** A JSON value with what an event told, as the caller may see it. */
export const asSeenBy = (ctx: Context, value: Sql, { form, event }: { form: Form; event: Sql }): Sql =>
  byEvent(ctx, event, {
    hidden: form === 'record' ? sql`redact_record(${value})` : sql`redact_payload(${value})`,
    shown: mayRead(ctx.caller, 'contacts') ? value : sql`redact_people(${value}, ${rawSql(form === 'payload' ? '0' : '1')})`,
  });

/**
 * The outcome of an action, a step or conditions, as the caller may see it. It may hold addresses, texts with merge fields and values of
 * fields.
 */
export function outcomeAsSeenBy(ctx: Context, outcome: Sql, event: Sql): Sql {
  const shown = mayRead(ctx.caller, 'contacts') ? outcome : sql`redact_outcome(${outcome})`;
  return byEvent(ctx, event, { hidden: sql`redact_effects(${shown})`, shown });
}

/** Whether something of what runs tell is hidden from the caller. */
const isNarrow = (ctx: Context): boolean => !mayRead(ctx.caller, 'contacts') || hiddenEvents(ctx).length > 0;

/** The actions of a run, each with its result as the caller may see it. Their configurations are shown to all. */
export function actionsAsSeenBy(ctx: Context, actions: Sql, event: Sql): Sql {
  if (!isNarrow(ctx)) return actions;
  const result = outcomeAsSeenBy(ctx, sql`a.value -> 'result'`, event);
  return sql`(
    select coalesce(jsonb_agg(a.value || jsonb_build_object('result', ${result}) order by a.nth), '[]')
    from jsonb_array_elements(${actions}) with ordinality a(value, nth))`;
}

/**
 * The bytes of a delivery; where their members are called as somebody liked, every text of them is hidden, and every number and flag of a
 * list.
 */
export function payloadAsSeenBy(ctx: Context, { body, isOwn, event }: { body: Sql; isOwn: Sql; event: Sql }): Sql {
  const value = sql`${body}::jsonb`;
  const either = (record: Sql) => sql`(case when ${isOwn} then redact_texts(${value}) else ${record} end)::json`;
  const shown = mayRead(ctx.caller, 'contacts') ? sql`${body}::json` : either(sql`redact_people(${value}, 0)`);
  return byEvent(ctx, event, { hidden: either(sql`redact_payload(${value})`), shown });
}

type Result = Record<string, unknown> | null;

/** What came of actions and steps that were only tried because of an event, as the caller may see it. */
export async function resultsAsSeenBy(ctx: Context, results: readonly Result[], event: string | null = null): Promise<Result[]> {
  if (!isNarrow(ctx)) return [...results];
  const given = sql`${JSON.stringify(results)}::jsonb`;
  const [row] = await ctx.select(
    { seen: json<Result[]>() },
    sql`select ${outcomeAsSeenBy(ctx, given, sql`${event}::text`)} as seen where ${ctx.caller.account.id}::uuid is not null`,
  );
  return row!.seen;
}
