import { type AppError, invalidField } from '../base/errors.js';
import { zoneInSql } from '../base/timeZones.js';
import type { Context } from '../context/context.js';
import { isUnknownZone } from '../database/errors.js';
import { flag } from '../database/kinds.js';
import { rawSql, type Sql, sql } from '../database/sql.js';

/** What the clocks of a time zone show at an instant. */
const localSql = (instant: Sql, zone: string): Sql => sql`(${instant}) at time zone ${zoneInSql(zone)}::text`;

/** The first and the last moment of the years that days are told of. */
const [first, last] = [rawSql("timestamp '0001-01-01'"), rawSql("timestamp '9999-12-31 23:59:59.999'")];

/** As `localSql`, and what the clocks show in another year than 1 to 9999 is the nearest moment of these. Null of null. */
export function keptLocalSql(instant: Sql, zone: string): Sql {
  // Null is neither least nor greatest.
  return sql`case when (${instant}) is not null then least(greatest(${localSql(instant, zone)}, ${first}), ${last}) end`;
}

/** What `work` answers; where it fails since the database does not know a time zone that this runtime knows, the refusal. */
export async function inKnownZone<T>(work: () => Promise<T>, refusal: () => AppError): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isUnknownZone(error) ? refusal() : error;
  }
}

/** Throws 400 naming the field for a time zone that the database does not know. */
export async function checkKnownZone(ctx: Context, field: string, zone: string): Promise<void> {
  const asked = sql`select ${localSql(sql`timestamptz '2000-01-01'`, zone)} is not null as known`;
  const message = 'must be a time zone that the database knows as well, such as Europe/Berlin';
  await inKnownZone(
    () => ctx.select({ known: flag }, asked),
    () => invalidField(field, 'not_allowed', message),
  );
}
