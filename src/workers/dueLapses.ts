import { dayMs, hourMs } from '../kernel/base/durations.js';
import type { App, DueWork } from '../kernel/context/context.js';
import { joinSql, rawSql, type Sql, sql } from '../kernel/database/sql.js';
import type { Sweep } from '../kernel/database/sweep.js';

/** So many processes may have ended in the middle of the work on a row; with one more the row itself is what ends them. */
const mostLapses = 5;
/** So often it is tried to give such a row up, which may end the process as well. */
const mostGivingUp = 2;

/** What is known of the processes that worked on a row before. */
export interface Lapsing {
  accountId: string;
  id: string;
  /** Whether the one before did not give it back: it died, or stood still for longer than its lease. */
  isLapsed?: boolean;
  /** How many did so since its work last came to an end, whatever the end was; null or nothing for none. */
  lapses?: number | null;
}

/** Whether a row is to be given up instead of worked on, where its kind can be. */
export const isHopeless = ({ lapses }: Lapsing): boolean => (lapses ?? 0) > mostLapses;

/**
 * For how many milliseconds a row is left alone first; undefined for none. Of the rows that were under way together nobody knows which
 * one ended the process: at another time each, they are not together again. What seems to end every process is tried again now and then
 * all the same: it may have been another fault that did, such as one of a version that is gone by now.
 */
export function pauseOf({ config }: App, { giveUp }: DueWork, row: Lapsing): number | undefined {
  const lapses = row.lapses ?? 0;
  if (!row.isLapsed || lapses < 2) return undefined;
  const last = giveUp ? mostLapses + mostGivingUp : mostLapses;
  // It cannot be given up: twice as long after each further time, and at most a day.
  if (lapses > last) return Math.min(hourMs * 2 ** (lapses - last - 1), dayMs);
  if (isHopeless(row)) return undefined;
  return Math.random() * config.leaseSeconds * 1000 * lapses;
}

const counting = `
  insert into due_lapses as l (account_id, kind, id, n)
  select r."accountId", $1, r.id, 1 from jsonb_to_recordset($2::jsonb) r("accountId" uuid, id uuid)
  on conflict (account_id, kind, id) do update set n = l.n + 1`;

/** Counts those of some rows that were just taken whose lease had run out, before they are worked on. */
export async function countLapses({ database }: App, { table }: DueWork, rows: readonly Lapsing[]): Promise<void> {
  const lapsed = rows.filter(({ isLapsed }) => isLapsed);
  if (lapsed.length === 0) return;
  await database.execute(counting, [table, JSON.stringify(lapsed.map(({ accountId, id }) => ({ accountId, id })))]);
  for (const row of lapsed) row.lapses = (row.lapses ?? 0) + 1;
}

/** Forgets that processes ended in the middle of the work on a row: it came to an end. */
export async function forgetLapses({ database, log }: App, { table }: DueWork, { accountId, id, lapses }: Lapsing): Promise<void> {
  if (!lapses) return;
  await database
    .execute('delete from due_lapses where account_id = $1::uuid and kind = $2 and id = $3::uuid', [accountId, table, id])
    .catch((err: unknown) => log.warn({ err, id }, 'how often the work on a row was cut off could not be forgotten'));
}

/** Which rows of a table that are kept beside due rows (alias `l`) may go: those whose row is none of these (alias `t`), and `old`. */
interface LeftBehind {
  most: Sql;
  of: Sql;
  old: Sql;
}

function leftBehind({ registry }: App, table: string, { most, of, old }: LeftBehind): Sql {
  const isThere = [...registry.due.values()].map(
    (due) => sql`when ${rawSql(`'${due.table}'`)} then exists (
      select from ${rawSql(due.table)} t where t.account_id = l.account_id and t.id = l.id and ${of})`,
  );
  const beside = rawSql(table);
  return sql`delete from ${beside} d using (
      select account_id, kind, id from ${beside} l where ${old} and not case l.kind ${joinSql(isThere, ' ')} else false end limit ${most}
    ) l where d.account_id = l.account_id and d.kind = l.kind and d.id = l.id returning 1`;
}

/** Counts of rows that are due no more, or gone: what settled them, such as whoever took back what was to be sent, does not delete them. */
export const lapsesOver = (app: App): Sweep => ({
  rows: ({ most }) => leftBehind(app, 'due_lapses', { most, of: sql`t.due_at is not null`, old: sql`true` }),
});

/** What was noted of rows that are gone, after a month; what settles one that is there forgets its note. */
export const outcomesOver = (app: App): Sweep => ({
  rows: ({ before, most }) => leftBehind(app, 'due_outcomes', { most, of: sql`true`, old: sql`l.created_at < ${before}` }),
  before: (now) => new Date(now.getTime() - 30 * dayMs),
});
