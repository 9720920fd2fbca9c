import { invalidField } from '../../kernel/base/errors.js';
import { type Exact, exact, toCents } from '../../kernel/base/money.js';

type Amount = Exact | string | number;

interface Line {
  quantity: Amount;
  unitPrice: Amount;
}

export interface Totals {
  /** One an item, in its order. */
  amounts: string[];
  subtotal: string;
  taxAmount: string;
  total: string;
}

/** The largest amount that is kept: numeric(18, 2). */
const most = exact('9999999999999999.99');

const text = (amount: Exact) => amount.toFixed(2);

/**
 * What an invoice comes to: each line rounded half up to two places, their sum, the tax on
 * that sum rounded likewise. Throws 400 naming `items` below zero or beyond what can be kept.
 */
export function totalsOf(lines: readonly Line[], taxRate: Amount): Totals {
  const amounts = lines.map(({ quantity, unitPrice }) => toCents(exact(quantity).times(exact(unitPrice))));
  const subtotal = amounts.reduce((sum, amount) => sum.plus(amount), exact(0));
  const taxAmount = toCents(subtotal.times(exact(taxRate)));
  const total = subtotal.plus(taxAmount);
  if (total.isNegative() && !total.isZero()) throw invalidField('items', 'out_of_range', 'must not total less than 0');
  if ([...amounts, subtotal, total].some((amount) => amount.abs().gt(most)))
    throw invalidField('items', 'out_of_range', `must not come to more than ${most}`);
  return { amounts: amounts.map(text), subtotal: text(subtotal), taxAmount: text(taxAmount), total: text(total) };
}
