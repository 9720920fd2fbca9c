import { beginOfDay, nearestInstant, today } from '../base/timeZones.js';
import type { RequestInfo } from '../context/app.js';
import type { Context } from '../context/context.js';
import { rawSql, type Sql, sql } from '../database/sql.js';
import { isDay, isInYears } from '../model/checks.js';

// What a day, a week or a time of the clocks is as instants is found here, and the database is told the instants: it would take some names
// of zones for others, and knows neither all of them nor the same midnight where there are two.

/** The first instant of a moment and the first after it, in milliseconds: of a day, which is the whole of it, or of a date-time. */
export interface Span {
  from: number;
  until: number;
}

/** What a moment was found to be; its instants as the database reads them. */
interface Found extends Span {
  day: string;
  texts: Record<keyof Span, string>;
}

/** What the moments of one request were found to be before its conditions were made, by the clocks of a time zone. */
interface Ahead {
  timezone: string;
  found: Map<string, Found>;
}

const ahead = new WeakMap<RequestInfo, Ahead>();

/** More than a document and its variables hold twice: what was found for one saved list after the other is let go. */
const mostAhead = 160_000;

/** Keeps for the request what moments are, so many more at most: `findMoments`. Returns what finds one out, where it is not known yet. */
export function momentsKept(ctx: Context, more: number): (moment: string) => void {
  const { timezone } = ctx.caller.account;
  const before = ahead.get(ctx.request);
  const isKept = before?.timezone === timezone && before.found.size + more <= mostAhead;
  const { found }: Ahead = isKept ? before : { timezone, found: new Map() };
  ahead.set(ctx.request, { timezone, found });
  return (moment) => {
    if (found.has(moment)) return;
    const { from, until } = findSpan(moment, timezone);
    found.set(moment, { from, until, day: findDay(moment, timezone), texts: { from: instantText(from), until: instantText(until) } });
  };
}

/** Whether a value is a moment that was found ahead, so that nothing is wrong with it. */
export const isFoundMoment = (value: unknown, ctx: Context): value is string =>
  typeof value === 'string' && knownMoment(value, ctx) !== undefined;

function knownMoment(moment: string, { caller, request }: Context): Found | undefined {
  const kept = ahead.get(request);
  return kept?.timezone === caller.account.timezone ? kept.found.get(moment) : undefined;
}

function findSpan(moment: string, timezone: string): Span {
  const from = nearestInstant(moment, timezone).getTime();
  return { from, until: isDay(moment) ? beginOfDay(moment, timezone, 1).getTime() : from + 1 };
}

function findDay(moment: string, timezone: string): string {
  if (isDay(moment)) return moment;
  const day = today(timezone, nearestInstant(moment, timezone));
  if (isDay(day)) return day;
  return day.startsWith('+') ? 'infinity' : '-infinity';
}

/** What a moment of a date range is, with its texts where it was found ahead: one without an offset is in the workspace's time zone. */
export const spanOf = (moment: string, ctx: Context): Span & Partial<Pick<Found, 'texts'>> =>
  knownMoment(moment, ctx) ?? findSpan(moment, ctx.caller.account.timezone);

/** The day of a moment in the workspace's time zone, as text; beyond the years that are kept it is before or behind them all. */
export const dayOf = (moment: string, ctx: Context): string =>
  knownMoment(moment, ctx)?.day ?? findDay(moment, ctx.caller.account.timezone);

/** The day that it is now in the workspace. */
export const todayOf = (ctx: Context): string => today(ctx.caller.account.timezone, ctx.now());

/** An instant as the database reads it; beyond the years that are kept it is before or behind them all. */
function instantText(ms: number): string {
  const instant = new Date(ms);
  if (isInYears(instant)) return instant.toISOString();
  return ms > 0 ? 'infinity' : '-infinity';
}

const instantSql = (ms: number): Sql => sql`${instantText(ms)}::timestamptz`;

/** SQL of ours, never the caller's. */
const asSql = (column: string | Sql): Sql => (typeof column === 'string' ? rawSql(column) : column);

/** At or after a moment; a day begins at midnight of the workspace's time zone. `column` is ours, never the caller's. */
export const since = (column: string | Sql, moment: string, ctx: Context): Sql =>
  sql`${asSql(column)} >= ${instantSql(spanOf(moment, ctx).from)}`;

/** At or before a moment; a day ends at the next midnight of the workspace's time zone. */
export const until = (column: string | Sql, moment: string, ctx: Context): Sql =>
  sql`${asSql(column)} < ${instantSql(spanOf(moment, ctx).until)}`;

/** Whether an instant is one of these moments; a day is the whole of it. */
export function isWithinOneOf(its: Sql, moments: readonly string[], ctx: Context): Sql {
  const spans = moments.map((moment) => spanOf(moment, ctx));
  const texts = (end: keyof Span) => sql`${spans.map((span) => span.texts?.[end] ?? instantText(span[end]))}::text[]::timestamptz[]`;
  return sql`${its} <@ (select range_agg(tstzrange(r.b, r.e)) from unnest(${texts('from')}, ${texts('until')}) r(b, e))`;
}

/** Whether a day is that of one of these moments. */
export const isOneOfDays = (its: Sql, moments: readonly string[], ctx: Context): Sql =>
  sql`${its} in (select m.v from unnest(${moments.map((moment) => dayOf(moment, ctx))}::text[]::date[]) m(v))`;

/** The midnight that begins the day of the workspace which is `days` after today. */
export const midnight = (ctx: Context, days: number): Sql =>
  instantSql(beginOfDay(todayOf(ctx), ctx.caller.account.timezone, days).getTime());

/** The midnight that begins this week of the workspace, that of its Monday. */
export function beginOfWeek(ctx: Context): Sql {
  const sinceMonday = (new Date(`${todayOf(ctx)}T00:00:00Z`).getUTCDay() + 6) % 7;
  return midnight(ctx, -sinceMonday);
}

/** On the day that it is now in the workspace's time zone. `column` is ours, never the caller's. */
export const isToday = (column: string, ctx: Context): Sql =>
  sql`(${rawSql(column)} >= ${midnight(ctx, 0)} and ${rawSql(column)} < ${midnight(ctx, 1)})`;
