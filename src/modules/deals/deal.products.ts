import { check, invalidField } from '../../kernel/base/errors.js';
import { exact, toCents } from '../../kernel/base/money.js';
import type { Context } from '../../kernel/context/context.js';
import type { DealProduct, DealProductInput } from './deal.model.js';

const four = (n: number) => `${n}.0000`;

/** The lines as they are kept: with ids of their own where they bring none, in their order. 400 for an id that comes twice. */
export function linesOf(ctx: Context, given: readonly DealProductInput[]): DealProduct[] {
  const lines = given.map(({ id, name, description, quantity, unitPrice, discount, tax, sortOrder }, i) => ({
    ...{ id: id ?? ctx.app.clock.id(), name, description: description ?? null, quantity: quantity ?? four(1), unitPrice },
    ...{ discount: discount ?? null, tax: tax ?? null, sortOrder: sortOrder ?? four(i) },
  }));
  const ids = lines.map(({ id }) => id);
  const twice = ids.findIndex((id, i) => ids.indexOf(id) < i);
  check(twice < 0, () => invalidField(`products.${twice}.id`, 'taken', 'is used by another line'));
  return lines.sort((a, b) => exact(a.sortOrder).cmp(exact(b.sortOrder)) || (a.id < b.id ? -1 : 1));
}

const most = exact('9999999999999999.99');

/** What a line amounts to: quantity × unitPrice − discount + tax, rounded half up to two places. */
const amountOf = ({ quantity, unitPrice, discount, tax }: DealProduct) =>
  toCents(exact(quantity).times(exact(unitPrice)))
    .minus(exact(discount ?? 0))
    .plus(exact(tax ?? 0));

/** The sum over the lines, or null for none. 400 for more than can be kept. */
export function sumOf(lines: readonly DealProduct[]): string | null {
  if (lines.length === 0) return null;
  const sum = lines.map(amountOf).reduce((a, b) => a.plus(b));
  check(sum.abs().lte(most), () => invalidField('products', 'out_of_range', `must not come to more than ${most}`));
  return sum.toFixed(2);
}

/** Keeps the lines of a deal. */
export function insertLines(ctx: Context, dealId: string, lines: readonly DealProduct[]): void {
  for (const line of lines) ctx.insert('DealProduct', { ...line, dealId });
}
