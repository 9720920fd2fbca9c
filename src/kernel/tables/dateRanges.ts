import type { Context } from '../context/context.js';
import { joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { isDay } from '../model/checks.js';

const hasOffset = /([Zz]|[+-]\d{2}:?\d{2})$/;

/** A moment of a date range as an instant: one without an offset is in the workspace's time zone. */
function instant(moment: string, zone: string): Sql {
  return !isDay(moment) && hasOffset.test(moment) ? sql`${moment}::timestamptz` : sql`${moment}::timestamp at time zone ${zone}`;
}

/** SQL of ours, never the caller's. */
const asSql = (column: string | Sql): Sql => (typeof column === 'string' ? rawSql(column) : column);

/** The day of a moment in the workspace's time zone. */
export const dayOf = (moment: string, ctx: Context): Sql =>
  isDay(moment)
    ? sql`${moment}::date`
    : sql`(${instant(moment, ctx.caller.account.timezone)} at time zone ${ctx.caller.account.timezone})::date`;

/** At or after a moment; a day begins at midnight of the workspace's time zone. `column` is ours, never the caller's. */
export const since = (column: string | Sql, moment: string, ctx: Context): Sql =>
  sql`${asSql(column)} >= ${instant(moment, ctx.caller.account.timezone)}`;

/** At or before a moment; a day ends at the next midnight of the workspace's time zone. */
export function until(column: string | Sql, moment: string, ctx: Context): Sql {
  const zone = ctx.caller.account.timezone;
  return isDay(moment)
    ? sql`${asSql(column)} < (${moment}::date + 1)::timestamp at time zone ${zone}`
    : sql`${asSql(column)} <= ${instant(moment, zone)}`;
}

/** The moments of a list in their three forms, each as rows `m(v)`: days, instants, and times of the workspace's clocks. */
function rowsOf(moments: readonly string[]) {
  const hasZone = (moment: string) => hasOffset.test(moment);
  const [days, times] = [moments.filter(isDay), moments.filter((moment) => !isDay(moment))];
  const rows = (of: string[], type: string) => (of.length > 0 ? sql`unnest(${of}::text[]::${rawSql(type)}[]) m(v)` : undefined);
  return {
    days: rows(days, 'date'),
    instants: rows(times.filter(hasZone), 'timestamptz'),
    locals: rows(
      times.filter((moment) => !hasZone(moment)),
      'timestamp',
    ),
  };
}

const all = (selects: (Sql | undefined)[]): Sql =>
  joinSql(
    selects.filter((select) => select !== undefined),
    ' union all ',
  );

/** Whether an instant is one of these moments; a day is the whole of it. */
export function isWithinOneOf(its: Sql, moments: readonly string[], ctx: Context): Sql {
  const zone = ctx.caller.account.timezone;
  const { days, instants, locals } = rowsOf(moments);
  const midnight = (day: Sql) => sql`(${day})::timestamp at time zone ${zone}`;
  const ranges = all([
    days && sql`select tstzrange(${midnight(sql`m.v`)}, ${midnight(sql`m.v + 1`)}) from ${days}`,
    instants && sql`select tstzrange(m.v, m.v, '[]') from ${instants}`,
    locals && sql`select tstzrange(m.v at time zone ${zone}, m.v at time zone ${zone}, '[]') from ${locals}`,
  ]);
  return sql`${its} <@ (select range_agg(r.v) from (${ranges}) r(v))`;
}

/** Whether a day is that of one of these moments. */
export function isOneOfDays(its: Sql, moments: readonly string[], ctx: Context): Sql {
  const zone = ctx.caller.account.timezone;
  const { days, instants, locals } = rowsOf(moments);
  const found = all([
    days && sql`select m.v from ${days}`,
    instants && sql`select (m.v at time zone ${zone})::date from ${instants}`,
    locals && sql`select ((m.v at time zone ${zone}) at time zone ${zone})::date from ${locals}`,
  ]);
  return sql`${its} in (${found})`;
}

/** The midnight that begins the day of the workspace which is `days` after today. */
export function midnight(ctx: Context, days: number): Sql {
  const { timezone } = ctx.caller.account;
  return sql`((${ctx.now()}::timestamptz at time zone ${timezone})::date + ${days}::int)::timestamp at time zone ${timezone}`;
}

/** On the day that it is now in the workspace's time zone. `column` is ours, never the caller's. */
export const isToday = (column: string, ctx: Context): Sql =>
  sql`(${rawSql(column)} >= ${midnight(ctx, 0)} and ${rawSql(column)} < ${midnight(ctx, 1)})`;
