import { withPlainAmounts } from '../../kernel/base/money.js';
import { amountsShown, type Changes, changesBetween } from '../../kernel/events/changes.js';
import { lastPosition } from './deal.board.js';
import type { WholeDeal } from './deal.columns.js';
import type { DealProduct, UpdateDealInput } from './deal.model.js';
import { lineAmounts, sumOf } from './deal.products.js';
import type { StageRules } from './deal.stage.js';

// Each rule says what becomes of some of a deal's fields, from what they were and what was sent. `undefined` leaves a field.

/** What a deal is worth: the amount that was given, else the sum over its lines. */
export function worth(given: string | null | undefined, lines: readonly DealProduct[]) {
  const sum = sumOf(lines);
  return { value: given ?? sum, valueFromProducts: (given ?? null) === null && sum !== null };
}

/**
 * What a deal is worth after a change. Where its lines change, an amount that came from them, or none at all, becomes their new sum. Null
 * sent as the amount stands for the sum over the lines.
 */
export function worthAfter(before: WholeDeal, { value }: UpdateDealInput, lines: readonly DealProduct[] | undefined) {
  const follows = value === null || (value === undefined && lines && (before.valueFromProducts || before.value === null));
  if (follows) return worth(null, lines ?? before.products);
  return value === undefined ? {} : worth(value, []);
}

/** The status of a deal that is made in a stage. */
export const statusIn = ({ isWon, isLost }: StageRules) => (isWon ? 'won' : isLost ? 'lost' : 'open');

/** When a deal was closed, by its status. */
export const closingAfter = (before: WholeDeal, { status }: UpdateDealInput, now: Date) =>
  status && status !== before.status ? { closedAt: status === 'open' ? null : now } : {};

/** How likely a deal is to be won: as it was given, else as its stage says. */
export const likelihood = (given: string | null | undefined, stage: StageRules) => ({
  probability: given ?? stage.probability,
  probabilityFromStage: (given ?? null) === null,
});

/**
 * How likely a deal is to be won after a change. A probability that came from a stage follows when the deal enters another stage; one
 * that somebody gave or cleared stays. One that is given together with a move counts as given, whatever it was before.
 */
export function likelihoodAfter(before: WholeDeal, { probability }: UpdateDealInput, entered: StageRules | undefined) {
  if (probability !== undefined) return probability === before.probability && !entered ? {} : { probability, probabilityFromStage: false };
  return entered && before.probabilityFromStage ? { probability: entered.probability } : {};
}

/** What a deal takes on in another stage besides: its place behind the others. */
export const entering = (now: Date) => ({ stageEnteredAt: now, position: lastPosition(now) });

/** A deal as changes are looked for in it: the amounts of its lines in the same words, however they were written. */
const comparable = (deal: WholeDeal) => ({
  ...deal,
  products: deal.products.map((line) => withPlainAmounts(line, lineAmounts)),
});

/** What an edit changes of a deal, in the fields of the record. */
export const changesOf = (before: WholeDeal, after: WholeDeal, fields: readonly string[]): Changes =>
  amountsShown(changesBetween(comparable(before), comparable(after), fields), 'products', lineAmounts);
