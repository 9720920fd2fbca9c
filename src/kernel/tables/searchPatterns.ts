import { normalized, spellingsOf } from '../base/unicode.js';
import type { Context } from '../context/context.js';
import { joinSql, likeText, rawSql, type Sql, sql } from '../database/sql.js';
import { callingCode, toE164 } from '../model/checks.js';

const phoneLike = /^(?:tel:)?[\d\s()+./\u2010-\u2015-]+$/i;

/**
 * A text as a LIKE pattern over lower-case words that follow a space each: part of it from three characters on, the start of a word below.
 */
export function wordPattern(term: string): string {
  const text = normalized(term);
  return `${[...text].length >= 3 ? '%' : '% '}${likeText(text.toLowerCase())}%`;
}

const wordPatterns = (term: string) => spellingsOf(normalized(term)).map(wordPattern);

/** Whether one of several conditions holds. */
const anyOf = (conditions: Sql[]): Sql => (conditions.length === 1 ? conditions[0]! : sql`(${joinSql(conditions, ' or ')})`);

const isLikeAny = (column: Sql, patterns: string[]): Sql => anyOf(patterns.map((pattern) => sql`${column} like ${pattern}`));

/** Whether lower-case words that follow a space each hold a term: part of it from three characters on, the start of a word below. */
export const holdsTerm = (column: Sql, term: string): Sql => isLikeAny(column, wordPatterns(term));

const digitsOf = (text: string) => text.replace(/\D/g, '');

/**
 * How the digits of a phone number, or of its beginning, may stand in one that is kept as E.164: as they were typed, without the
 * 00 of a call abroad, and with the country's code in the place of the 0 of a call at home.
 */
function digitsInE164(term: string, country: string): string[] {
  const digits = digitsOf(term);
  const whole = toE164(term, country);
  const abroad = digits.startsWith('00') ? [digits.slice(2)] : [];
  const home = /^0[1-9]/.test(digits) ? [`${callingCode(country)}${digits.slice(1)}`] : [];
  return [...new Set([digits, ...abroad, ...home, ...(whole ? [digitsOf(whole)] : [])])];
}

/**
 * A search term as LIKE patterns over a search text whose words follow a space each. What may be a phone number is found by its digits
 * as well as it is written: names and addresses have digits and dots, too.
 */
function searchPatterns(term: string, country: string): string[] {
  const isPhone = phoneLike.test(term) && digitsOf(term).length >= 3;
  return [...new Set([term, ...(isPhone ? digitsInE164(term, country) : [])])].flatMap(wordPatterns);
}

/** Whether a search text holds a term, as a person of the caller's account would write it. */
export const matches = (column: Sql, term: string, { caller }: Context): Sql =>
  isLikeAny(column, searchPatterns(term, caller.account.defaultCountry));

/**
 * A text in lower case, compared by its bytes. ASCII, as most texts are, is the same without ICU, which takes several times as long. It is
 * named several times: a column, or what costs little. Indexes of searches spell it like this.
 */
export const lowered = (text: string): Sql =>
  rawSql(
    `case when octet_length(${text}) = length(${text}) then lower(${text} collate "C") else lower(${text} collate "und-x-icu") collate "C" end`,
  );

/** A text in lower case behind a space: `holdsTerm` finds the beginnings of words in it. */
export const words = (text: string): Sql => sql`(' ' || ${lowered(text)})`;

/** Whether a column contains a text, whatever its case. */
export const contains = (column: string, text: string): Sql =>
  anyOf(spellingsOf(normalized(text)).map((part) => sql`strpos(${lowered(column)}, ${part.toLowerCase()}) > 0`));
