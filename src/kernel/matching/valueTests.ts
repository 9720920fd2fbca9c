import { isDeepStrictEqual } from 'node:util';
import { exact, numberForm } from '../base/money.js';
import { dayOf, spanOf } from '../tables/dateRanges.js';
import type { FilterKind } from '../tables/filterField.js';
import { jsonText, partsOf, plain, type ValueAt } from '../tables/filterValues.js';

/** Whether a value of a record, in the form of its kind, meets a comparison. */
export type ValueTest = (its: unknown) => boolean;

/** A text as the database lower-cases it. */
const folded = (text: unknown) => String(text).toLowerCase();

/** The order of ICU's root collation; texts that it holds equal stand in the order of their bytes. */
const collator = new Intl.Collator('und');
const textOrder = (a: string, b: string): number => collator.compare(a, b) || Buffer.compare(Buffer.from(a), Buffer.from(b));

/** A value without the members that are null, as it is compared. */
function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, stripped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, stripped(member)]])));
}

/** Whether a value is this one. Throws 400 for what is no value of the kind. */
export function equalityTest(kind: FilterKind, value: unknown, place: ValueAt): ValueTest {
  if (kind === 'json') {
    const wanted = stripped(JSON.parse(jsonText(value, place)));
    return (its) => isDeepStrictEqual(stripped(its), wanted);
  }
  const text = plain(value, kind, place);
  if (kind === 'name') return (its) => folded(its) === folded(text);
  if (kind === 'uuid') return (its) => folded(its) === folded(text);
  if (kind === 'timestamptz') {
    const { from, until } = spanOf(text, place.ctx);
    return (its) => instantAt(its) >= from && instantAt(its) < until;
  }
  const order = orderTo(kind, text, place);
  return (its) => order(its) === 0;
}

export type Ordering = 'gt' | 'gte' | 'lt' | 'lte';

const within: Record<Ordering, (order: number) => boolean> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
};

/** Whether a value stands before or behind this one. Throws 400 for what is no value of the kind. */
export function orderTest(kind: FilterKind, ordering: Ordering, value: unknown, place: ValueAt): ValueTest {
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
  return (its) => tests[ordering](instantAt(its));
}

/** Whether a text is in a value, begins or ends it, whatever its case. */
export function textTest(operator: 'contains' | 'starts_with' | 'ends_with', value: unknown, place: ValueAt): ValueTest {
  const parts = partsOf(value, place).map(folded);
  const test = ({ contains: 'includes', starts_with: 'startsWith', ends_with: 'endsWith' } as const)[operator];
  return (its) => {
    const text = folded(its);
    return parts.some((part) => text[test](part));
  };
}

const instantAt = (its: unknown): number => Date.parse(String(its));

/** How a value stands to this one: below, above, or neither. */
function orderTo(kind: FilterKind, text: string, place: ValueAt): (its: unknown) => number {
  if (kind === 'integer' || kind === 'numeric') {
    const wanted = exact(text);
    return (its) => exact(its as number | string).comparedTo(wanted);
  }
  const wanted = kind === 'date' ? dayOf(text, place.ctx) : text;
  if (kind === 'text' || kind === 'name') return (its) => textOrder(String(its), wanted);
  return (its) => (String(its) < wanted ? -1 : Number(String(its) > wanted));
}

/** A JSON value as the database shows it as text: a text as it is, anything else as `jsonb` is written. */
export function textOfJson(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? exact(value).toFixed() : written(value);
}

function written(value: unknown): string {
  if (typeof value === 'number') return exact(value).toFixed();
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const size = (name: string) => Buffer.byteLength(name);
  const names = Object.keys(value).sort((a, b) => size(a) - size(b) || Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${names.map((name) => `${JSON.stringify(name)}: ${written((value as Record<string, unknown>)[name])}`).join(', ')}}`;
}

const numeric = new RegExp(numberForm);

/** A number of a record, or a value of a custom field that is written as one, as exact text; null for what is none. */
export function numberText(value: unknown): string | null {
  const text = textOfJson(value);
  return numeric.test(text) ? text : null;
}
