import { emptySql, rawSql, type Sql, sql } from '../database/sql.js';

const marks = ['/* soon decided */', '/* until here */'] as const;
const [from, to] = marks.map(rawSql);
const betweenMarks = /\/\* soon decided \*\/.*?\/\* until here \*\//gs;

/**
 * A condition that looks at other records, one look into an index for each row, or at short texts, of which no index tells: it may be
 * asked several times. What many rows meet is counted then without being kept.
 */
export const soonDecided = (condition: Sql): Sql => sql`${from}${condition}${to}`;

/** Conditions of so many parameters take long for each row. */
const mostParameters = 100;

/** Stands in conditions that look for something in long texts, through whatever they become a part of. */
const longMark = '/* in long texts */';
const markOf = { long: rawSql(longMark), short: emptySql };

/** What stands before a text that a condition looks into. */
export const textMark = (isLong: boolean | undefined): Sql => markOf[isLong ? 'long' : 'short'];

/** Whether a condition looks for something in long texts: each row takes long. */
export const looksInLongTexts = ({ strings }: Sql): boolean => strings.some((part) => part.includes(longMark));

/**
 * Whether a condition is soon decided, by plain columns of the row or where it says so: another one is not to be looked at several times.
 * What searches texts or JSON is found as a whole before its first row, and read from the table.
 */
export const isCheap = ({ sql: text, values }: Sql): boolean =>
  values.length <= mostParameters && !/\b(select|like|strpos)\b|@>|&&/i.test(text.replace(betweenMarks, ''));
