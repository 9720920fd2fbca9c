import { Prisma } from '../../generated/prisma/client.js';

/** An exact decimal. */
export type Exact = Prisma.Decimal;

// Two numbers of numeric(18) multiply to 36 digits: none of them may be lost before the rounding that is meant.
const Decimal = Prisma.Decimal.clone({ precision: 60, rounding: Prisma.Decimal.ROUND_HALF_UP }) as typeof Prisma.Decimal;

/** A number, a decimal text or a decimal of the database as an exact decimal; binary floats never take part. */
export const exact = (value: Exact | string | number): Exact => new Decimal(value);

/** Rounded to two places, halves away from zero, as `round(numeric, 2)` does. */
export const toCents = (value: Exact): Exact => value.toDecimalPlaces(2);

/** The same text for the same amount, however it was written; null for none. */
export const plainAmount = (value: Exact | string | number | null | undefined): string | null =>
  value === null || value === undefined ? null : exact(value).toFixed();
