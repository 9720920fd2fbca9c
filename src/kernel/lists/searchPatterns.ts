import { likeText, rawSql, type Sql, sql } from '../database/sql.js';

const phoneLike = /^[\d\s()+.-]+$/;

/** A text as a LIKE pattern over lower-case words that follow a space each: part of it from three characters on, the start of a word below. */
export function wordPattern(term: string): string {
  const text = likeText(term.toLowerCase());
  return [...term].length >= 3 ? `%${text}%` : `% ${text}%`;
}

/**
 * A search term as a LIKE pattern over a search text whose words follow a space each: part of it from three characters
 * on, the start of a word for one or two. A formatted phone number is found by its digits.
 */
export function searchPattern(term: string): string {
  const digits = term.replace(/\D/g, '');
  return wordPattern(phoneLike.test(term) && digits.length >= 3 ? digits : term);
}

/** Whether a column contains a text, whatever its case. */
export const contains = (column: string, text: string): Sql =>
  sql`strpos(lower(${rawSql(column)} collate "und-x-icu"), ${text.toLowerCase()}) > 0`;
