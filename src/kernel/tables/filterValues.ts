import { type FaultCode, invalidField } from '../base/errors.js';
import { exact, isSureOf, numberForm, toBeText } from '../base/money.js';
import { formsOf, normalized, spellingsOf } from '../base/unicode.js';
import type { Context } from '../context/context.js';
import { joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { isUuid, moment } from '../model/checks.js';
import { jsonFault } from '../model/jsonFault.js';
import { dayOf, isFoundMoment, isOneOfDays, isWithinOneOf, since, until } from './dateRanges.js';
import type { FilterField, FilterKind } from './filterField.js';
import type { ConditionPath } from './filterTree.js';
import { lowered } from './searchPatterns.js';
import { textMark } from './sqlCosts.js';

/** Where in a filter a value stands, and who filters. */
export interface ValueAt {
  ctx: Context;
  at: string;
}

/** Where in a filter a list of values stands, and who filters. */
export interface ValuesAt {
  ctx: Context;
  path: ConditionPath;
}

/** What is compared with: a field's value as SQL, and as what. */
type Compared = Pick<FilterField, 'kind' | 'holds' | 'isLong' | 'lowered'> & { value: Sql };
type Ordering = '<' | '<=' | '>' | '>=';

const icu = rawSql('collate "und-x-icu"');

/** Whether a field has this value. A date-time is compared as in the date ranges of lists: a day is the whole of it. */
export function equal(field: Compared, value: unknown, place: ValueAt): Sql {
  const same = equalTo(field, value, place);
  return field.holds ? sql`(${same} or ${field.holds([value])})` : same;
}

/** How a name is compared with others: a column that has it in lower case already stands in an index, by its bytes. */
const lowerCased = ({ value, lowered }: Compared) =>
  lowered
    ? { its: lowered, other: (text: Sql) => sql`(lower(${text} ${icu}) collate "C")` }
    : { its: sql`lower(${value} ${icu})`, other: (text: Sql) => sql`lower(${text} ${icu})` };

function equalTo(field: Compared, value: unknown, place: ValueAt): Sql {
  const { kind, value: its } = field;
  if (kind === 'timestamptz') return sql`(${onDates['>='](its, value, place)} and ${onDates['<='](its, value, place)})`;
  // The members that are not there show as null.
  if (kind === 'json') return sql`jsonb_strip_nulls(${its}) = jsonb_strip_nulls(${literal(value, kind, place)})`;
  if (kind === 'name') {
    const name = lowerCased(field);
    return sql`${name.its} = ${name.other(literal(value, kind, place))}`;
  }
  return sql`${its} = ${literal(value, kind, place)}`;
}

/** A value of a list, and where it stands. */
interface Placed {
  value: unknown;
  place: ValueAt;
}

/**
 * Whether a field has one of these values; a null among them is passed over. They are one parameter, however many there are: the
 * database looks them up for each row instead of comparing with each of them.
 */
export function among(field: Compared, values: readonly unknown[], { ctx, path }: ValuesAt): Sql {
  const placed = values.flatMap((value, i): Placed[] => (value === null ? [] : [{ value, place: { ctx, at: path.item(i) } }]));
  const [first, ...others] = placed;
  if (!first) return sql`false`;
  if (others.length === 0) return equal(field, first.value, first.place);
  const same = amongAll(field, placed, ctx);
  return field.holds ? sql`(${same} or ${field.holds(placed.map(({ value }) => value))})` : same;
}

const isDated = (kind: FilterKind) => kind === 'timestamptz' || kind === 'date';

function amongAll(field: Compared, placed: readonly Placed[], ctx: Context): Sql {
  const { kind, value: its } = field;
  if (kind === 'json') {
    const texts = placed.map(({ value, place }) => jsonText(value, place));
    return sql`jsonb_strip_nulls(${its}) in (select jsonb_strip_nulls(a.v) from unnest(${texts}::text[]::jsonb[]) a(v))`;
  }
  const texts = placed.map(({ value, place }) => (isDated(kind) && isFoundMoment(value, ctx) ? value : plain(value, kind, place)));
  if (kind === 'timestamptz') return isWithinOneOf(its, texts, ctx);
  if (kind === 'date') return isOneOfDays(its, texts, ctx);
  if (kind === 'name') {
    const name = lowerCased(field);
    return sql`${name.its} in (select ${name.other(rawSql('a.v'))} from unnest(${texts}::text[]) a(v))`;
  }
  return sql`${its} = any(${texts}::${rawSql(kind)}[])`;
}

/** Whether a field's value stands before or behind this one. */
export function ordered({ kind, value: its }: Compared, ordering: Ordering, value: unknown, place: ValueAt): Sql {
  if (kind === 'json') throw refused(place, 'not_allowed', 'cannot be compared by size');
  if (kind === 'timestamptz') return onDates[ordering](its, value, place);
  const collation = kind === 'text' || kind === 'name' ? icu : rawSql('');
  return sql`${its} ${rawSql(ordering)} ${literal(value, kind, place)} ${collation}`;
}

/** Whether a field's value stands between two values, or is one of them. */
export function between(field: Compared, values: unknown, { ctx, path }: ValuesAt): Sql {
  if (!Array.isArray(values) || values.length !== 2) throw invalidField(path.name, 'invalid_type', 'must be a list of two values');
  const [from, to] = values.map((value, i) => ({ value: value as unknown, place: { ctx, at: path.item(i) } }));
  return sql`(${ordered(field, '>=', from!.value, from!.place)} and ${ordered(field, '<=', to!.value, to!.place)})`;
}

/** The texts that a part of a text may be: in each of its forms, with each sigma. Throws 400 for what is no text that can be kept. */
export function partsOf(value: unknown, place: ValueAt): string[] {
  if (typeof value !== 'string') throw refused(place, 'invalid_type', 'must be a string');
  plain(value, 'text', place);
  return formsOf(value).flatMap(spellingsOf);
}

/** Whether a text is in a field's value, begins or ends it, whatever its case. */
export function inText(
  { value: its, isLong }: Compared,
  operator: 'contains' | 'starts_with' | 'ends_with',
  value: unknown,
  place: ValueAt,
): Sql {
  const parts = partsOf(value, place).map((part) => sql`(lower(${part}::text ${icu}) collate "C")`);
  // A column is soon named several times; what is looked up, or taken out of JSON, is not.
  const isColumn = its.values.length === 0 && /^\w+\.\w+$/.test(its.sql);
  const text = sql`${textMark(isLong)}${isColumn ? lowered(`${its.sql}::text`) : sql`(lower(${its}::text ${icu}) collate "C")`}`;
  const position = rawSql(operator === 'contains' ? '> 0' : '= 1');
  const found = parts.map((part) =>
    operator === 'ends_with' ? sql`right(${text}, length(${part})) = ${part}` : sql`strpos(${text}, ${part}) ${position}`,
  );
  return found.length === 1 ? found[0]! : sql`(${joinSql(found, ' or ')})`;
}

const onDates: Record<Ordering, (its: Sql, value: unknown, place: ValueAt) => Sql> = {
  '>=': (its, value, place) => since(its, plain(value, 'timestamptz', place), place.ctx),
  '<=': (its, value, place) => until(its, plain(value, 'timestamptz', place), place.ctx),
  '<': (...of) => sql`not (${onDates['>='](...of)})`,
  '>': (...of) => sql`not (${onDates['<='](...of)})`,
};

const refused = ({ at }: ValueAt, code: FaultCode, message: string) => invalidField(at, code, message);

/** A value as SQL of the kind. */
function literal(value: unknown, kind: FilterKind, place: ValueAt): Sql {
  if (kind === 'json') return sql`${jsonText(value, place)}::jsonb`;
  const text = plain(value, kind, place);
  if (kind === 'date') return sql`${dayOf(text, place.ctx)}::date`;
  return sql`${text}::${rawSql(kind === 'name' ? 'text' : kind)}`;
}

export function jsonText(value: unknown, place: ValueAt): string {
  if (value === undefined) throw refused(place, 'required', 'is required');
  const fault = jsonFault(value);
  if (fault) throw refused(place, fault.code, fault.message);
  return JSON.stringify(value);
}

type Form = (text: string) => string | undefined;
const matching =
  (form: RegExp): Form =>
  (text) =>
    form.test(text) ? text : undefined;
/** The moment without the blanks around it, or with the + that a query string took for a blank. */
export const dated: Form = (text) => {
  const faults: string[] = [];
  const cleaned = moment(text, '', (at) => faults.push(at));
  return faults.length > 0 || cleaned === null ? undefined : cleaned;
};

/** A text in the form in which texts are kept. */
const storable: Form = (text) => (jsonFault(text) ? undefined : normalized(text));

const forms: Record<Exclude<FilterKind, 'json'>, [form: Form, words: string]> = {
  text: [storable, 'a text that can be kept'],
  name: [storable, 'a text that can be kept'],
  uuid: [(text) => (isUuid(text) ? text : undefined), 'a UUID'],
  integer: [(text) => (/^-?\d{1,10}$/.test(text) && Math.abs(Number(text)) < 2 ** 31 ? text : undefined), 'an integer'],
  numeric: [matching(new RegExp(numberForm)), 'a number'],
  boolean: [matching(/^(true|false)$/), 'true or false'],
  timestamptz: [dated, 'a day (YYYY-MM-DD) or an ISO 8601 date-time'],
  date: [dated, 'a day (YYYY-MM-DD) or an ISO 8601 date-time'],
};

/** A scalar as text that PostgreSQL can read as the kind. Throws 400 where it is none. */
export function plain(value: unknown, kind: FilterKind, place: ValueAt): string {
  const [form, words] = forms[kind as Exclude<FilterKind, 'json'>];
  // 1e-7 by its digits, as the database shows what it keeps of it.
  const written = typeof value === 'number' ? exact(value).toFixed() : value;
  const text = ['string', 'number', 'boolean'].includes(typeof value) ? form(String(written)) : undefined;
  if (text === undefined) throw refused(place, 'invalid_format', `must be ${words}`);
  if (kind === 'numeric' && typeof value === 'number' && !isSureOf(value)) throw refused(place, 'invalid_format', toBeText);
  return text;
}
