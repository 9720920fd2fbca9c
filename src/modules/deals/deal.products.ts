import { check, invalidField } from '../../kernel/base/errors.js';
import { exact, plainAmount, toCents } from '../../kernel/base/money.js';
import type { Context } from '../../kernel/context/context.js';
import type { DealProduct, DealProductInput } from './deal.model.js';

const four = (n: number) => `${n}.0000`;

/** The fields of a line that are amounts. */
export const lineAmounts = ['quantity', 'unitPrice', 'discount', 'tax', 'sortOrder'] as const;

/** What a line says, its id aside: the same for equal lines however their amounts were written. */
const saidBy = (line: Omit<DealProduct, 'id'>) =>
  JSON.stringify([line.name, line.description, ...lineAmounts.map((name) => plainAmount(line[name]))]);

/** Finds the id that a line keeps: that of one of before that says the same, each once, and none that the request names itself. */
function idsToKeep(
  before: readonly DealProduct[],
  given: readonly DealProductInput[],
): (line: Omit<DealProduct, 'id'>) => string | undefined {
  const named = new Set(given.map(({ id }) => id));
  const free = new Map<string, string[]>();
  for (const line of before.filter(({ id }) => !named.has(id))) {
    const said = saidBy(line);
    free.set(said, [...(free.get(said) ?? []), line.id]);
  }
  return (line) => free.get(saidBy(line))?.shift();
}

/**
 * The lines as they are kept, in their order. One that brings no id has that of a line of `before` which says the same, so that what is
 * sent again changes nothing, else one of its own. 400 for an id that comes twice.
 */
export function linesOf(ctx: Context, given: readonly DealProductInput[], before: readonly DealProduct[] = []): DealProduct[] {
  const kept = idsToKeep(before, given);
  const lines = given.map(({ id, name, description, quantity, unitPrice, discount, tax, sortOrder }, i) => {
    const line = {
      ...{ name, description: description ?? null, quantity: quantity ?? four(1), unitPrice },
      ...{ discount: discount ?? null, tax: tax ?? null, sortOrder: sortOrder ?? four(i) },
    };
    return { id: id ?? kept(line) ?? ctx.app.clock.id(), ...line };
  });
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
