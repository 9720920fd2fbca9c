import { rawSql, type Sql, sql } from './sql.js';

/** JSON never holds it: it stands between the parts of a text, and before the size of one that is too large. */
export const separator = '\x1e';
export const separatorSql = rawSql("E'\\x1e'");

/** Stands for a text that was left out, as it has more bytes than it may. */
export const tooMuch = '';

/** What was to be read of a page has more bytes than the request's `mostBytes`. */
export class TooLarge extends Error {
  constructor(readonly bytes: number) {
    super(`The page has ${bytes} bytes`);
  }
}

/** The text `part` of a select, or `instead` where it has more bytes. */
// Without the offset PostgreSQL would run the query in both places of its part.
export const withinBytes = (query: Sql, bytes: Sql, instead = sql`${tooMuch}`): Sql =>
  sql`select case when octet_length(s.part) <= ${bytes} then s.part else ${instead} end as part from (${query} offset 0) s`;

/** The text `part` of a select, or only how many bytes it has where there are more than `most`, if there is such a limit. */
export const orItsBytes = (query: Sql, most: number | undefined): Sql =>
  most ? withinBytes(query, sql`${most}::int`, sql`${separatorSql} || octet_length(s.part)`) : query;

/** What such a select answered. Throws `TooLarge` where that is the size alone. */
export function whole(text: string): string {
  if (text.startsWith(separator)) throw new TooLarge(Number(text.slice(separator.length)));
  return text;
}
