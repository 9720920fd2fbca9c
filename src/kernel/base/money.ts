import { Prisma } from '../../generated/prisma/client.js';
import { withChanges } from './objects.js';

/** An exact decimal. */
export type Exact = Prisma.Decimal;

// Two numbers of numeric(18) multiply to 36 digits: none of them may be lost before the rounding that is meant.
const Decimal = Prisma.Decimal.clone({ precision: 60, rounding: Prisma.Decimal.ROUND_HALF_UP }) as typeof Prisma.Decimal;

/** A number, a decimal text or a decimal of the database as an exact decimal; binary floats never take part. */
export const exact = (value: Exact | string | number): Exact => new Decimal(value);

/**
 * How a number is written that conditions compare: without an exponent, in more digits than any amount has, and in as many as doubles show
 * from 1e-43 to 1e39. PostgreSQL and JavaScript read it alike; what is written otherwise may be more than `numeric` takes.
 */
export const numberForm = '^(-?[0-9]{1,40}([.][0-9]{1,60})?)$';

/** Rounded to two places, halves away from zero, as `round(numeric, 2)` does. */
export const toCents = (value: Exact): Exact => value.toDecimalPlaces(2);

/** Between these the doubles of JSON do not tell all amounts with four places apart. Larger ones are kept nowhere. */
const [firstInexact, firstTooLarge] = [2 ** 39, 1e16];

/**
 * Whether a number of JSON can be taken at its word: it must be able to tell as many places apart as it shows. 90071992547409.94 may
 * have been sent as 90071992547409.93, which no double is; as a text it is exact.
 */
export function isSureOf(value: number): boolean {
  const size = Math.abs(value);
  if (size < firstInexact || size >= firstTooLarge) return true;
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  const places = (String(value).split('.')[1] ?? '').length;
  return 2 ** (Math.floor(Math.log2(size)) - 52) < 10 ** -places;
}

/** What a number is told that cannot. */
export const toBeText = 'must be sent as a string: a JSON number of this size may not be exact';

/** What an amount may be, as a request, a row or a computation has it. */
type Amount = Exact | string | number | null | undefined;

/** An amount as plain text, equal for equal amounts however they were written; null for none. */
export const plainAmount = (value: Amount): string | null => (value === null || value === undefined ? null : exact(value).toFixed());

/** The same record, some of its amounts as plain text: equal for equal records however these were written. */
export const withPlainAmounts = <K extends string, T extends { [Name in K]?: Amount }>(record: T, names: readonly K[]) =>
  withChanges(record, Object.fromEntries(names.map((name) => [name, plainAmount(record[name])])) as Record<K, string | null>);
