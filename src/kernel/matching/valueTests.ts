import { type Exact, exact } from '../base/money.js';
import type { Context } from '../context/context.js';
import { dayOf, spanOf } from '../tables/dateRanges.js';
import type { FilterKind } from '../tables/filterField.js';
import { jsonText, partsOf, plain, type ValueAt } from '../tables/filterValues.js';
import type { FieldView } from './recordView.js';
import { folded, keyOf } from './valueForms.js';

/** Whether what a field holds meets a comparison. */
export type FieldTest = (its: FieldView) => boolean;

/** What a field is compared with, and where that stands. */
export interface Wanted {
  value: unknown;
  at: string;
}

/** The order of ICU's root collation; texts that it holds equal stand in the order of their bytes. */
const collator = new Intl.Collator('und');
const textOrder = (a: string, b: string): number => collator.compare(a, b) || Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Whether a field has one of these values. Throws 400 for what is no value of the kind. */
export function equalityTest(kind: FilterKind, wanted: readonly Wanted[], ctx: Context): FieldTest {
  if (kind === 'timestamptz') {
    const spans = wanted.map(({ value, at }) => spanOf(plain(value, kind, { ctx, at }), ctx));
    const isWithin = (instant: number) => spans.some(({ from, until }) => instant >= from && instant < until);
    return ({ ordered }) => (ordered as number[]).some(isWithin);
  }
  const keys = new Set(wanted.map(({ value, at }) => wantedKey(kind, value, { ctx, at })));
  return (its) => its.keys.some((key) => keys.has(key));
}

function wantedKey(kind: FilterKind, value: unknown, place: ValueAt): string {
  if (kind === 'json') return keyOf(kind, JSON.parse(jsonText(value, place)));
  const text = plain(value, kind, place);
  return keyOf(kind, kind === 'date' ? dayOf(text, place.ctx) : text);
}

export type Ordering = 'gt' | 'gte' | 'lt' | 'lte';

const within: Record<Ordering, (order: number) => boolean> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
};

/**
 * Whether a value, in the form by which its kind is put in order, stands before or behind this one. Throws 400 for what is no value of
 * the kind.
 */
export function orderTest(kind: FilterKind, ordering: Ordering, value: unknown, place: ValueAt): (its: unknown) => boolean {
  const text = plain(value, kind, place);
  if (kind !== 'timestamptz') {
    const order = orderTo(kind, text, place);
    return (its) => within[ordering](order(its));
  }
  const { from, until } = spanOf(text, place.ctx);
  const tests: Record<Ordering, (at: number) => boolean> = {
    gte: (at) => at >= from,
    lt: (at) => at < from,
    lte: (at) => at < until,
    gt: (at) => at >= until,
  };
  return (its) => tests[ordering](its as number);
}

/** Whether a text is in a value, begins or ends it, whatever its case. */
export function textTest(operator: 'contains' | 'starts_with' | 'ends_with', value: unknown, place: ValueAt): FieldTest {
  const parts = partsOf(value, place).map(folded);
  const test = ({ contains: 'includes', starts_with: 'startsWith', ends_with: 'endsWith' } as const)[operator];
  return (its) => its.folded.some((text) => parts.some((part) => text[test](part)));
}

/** How a value stands to this one: below, above, or neither. */
function orderTo(kind: FilterKind, text: string, place: ValueAt): (its: unknown) => number {
  if (kind === 'integer' || kind === 'numeric') {
    const wanted = exact(text);
    return (its) => (its as Exact).comparedTo(wanted);
  }
  const wanted = kind === 'date' ? dayOf(text, place.ctx) : text;
  if (kind === 'text' || kind === 'name') return (its) => textOrder(its as string, wanted);
  return (its) => ((its as string) < wanted ? -1 : Number((its as string) > wanted));
}
