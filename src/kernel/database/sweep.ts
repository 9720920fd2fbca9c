import type { Config } from '../base/config.js';
import { dayMs } from '../base/durations.js';
import { joinSql, rawSql, type Sql, sql } from './sql.js';
import { type Bound, slot, Template } from './statement.js';

/** What is done over all accounts once its time has come. */
export interface Sweep {
  /** A statement over `most` rows from before a moment that answers a row for each. It is run until fewer are left. */
  rows(slots: { before: Sql; most: Sql }): Sql;
  /** The moment, `now` by default; undefined where the server is to keep what there is. */
  before?: (now: Date, config: Config) => Date | undefined;
}

/** When a sweep begins of what is kept for a number of days; for ever where the server is told none. */
export const daysBefore =
  (daysOf: (config: Config) => number | undefined): NonNullable<Sweep['before']> =>
  (now, config) => {
    const days = daysOf(config);
    return days === undefined ? undefined : new Date(now.getTime() - days * dayMs);
  };

/** Rows of a table, with this key, whose `expires_at` has passed. One that was renewed meanwhile stays. */
export const expiredRows = (table: string, key: readonly string[]): Sweep => {
  const [of, keys] = [rawSql(table), rawSql(key.join(', '))];
  const isSame = joinSql(
    key.map((column) => rawSql(`r.${column} = old.${column}`)),
    ' and ',
  );
  return {
    rows: ({ before, most }) => sql`delete from ${of} r using (select ${keys} from ${of} where expires_at < ${before} limit ${most}) old
      where ${isSame} and r.expires_at < ${before} returning 1`,
  };
};

/** A statement of a sweep, over so many rows from before a moment. */
export const sweepOf = ({ rows }: Sweep, before: Date, most: number): Bound =>
  new Template(rows({ before: slot('before', 'timestamptz'), most: slot('most', 'int') })).with({ before: before.toISOString(), most });
