import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTimeISO, GraphQLJSON, GraphQLJSONObject, GraphQLLocalDate } from 'graphql-scalars';
import { isSureOf, toBeText } from '../base/money.js';

/** A scalar that reads "" as null, as a variable and in the document. */
const orNothing = <I, O>(scalar: GraphQLScalarType<I, O>) =>
  new GraphQLScalarType({
    ...scalar.toConfig(),
    parseValue: (value) => (value === '' ? (null as I) : scalar.parseValue(value)),
    parseLiteral: (node, variables) =>
      node.kind === Kind.STRING && node.value === '' ? (null as I) : scalar.parseLiteral(node, variables),
  });

const { serialize: _, parseValue, parseLiteral, ...instant } = orNothing(GraphQLDateTimeISO).toConfig();

const instantText = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z)|([+-]\d\d):?(\d\d))$/;

/** A date-time with its seconds and a colon in its offset: ISO 8601 lets both be left out, and other fields take it so. */
const inFull = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replace(
      instantText,
      (_text, day, time, seconds = ':00', utc, hours, minutes) => `${day}T${time}${seconds}${utc ?? `${hours}:${minutes}`}`,
    );

/** An instant: ISO 8601 with an offset. A row read as JSON has it as text. */
export const DateTime = new GraphQLScalarType<Date, string>({
  ...instant,
  name: 'DateTime',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  parseValue: (value) => parseValue(typeof value === 'string' ? inFull(value) : value),
  parseLiteral(node, variables) {
    if (node.kind !== Kind.STRING) return parseLiteral(node, variables);
    try {
      return parseValue(inFull(node.value));
    } catch (error) {
      throw new GraphQLError((error as Error).message, { nodes: node });
    }
  },
  serialize: (value) => (typeof value === 'string' ? isoOf(value) : (value as Date).toISOString()),
});

const fromJson = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?\+00:00$/;

/** As PostgreSQL writes an instant into JSON: as many decimals as there are, and the offset of UTC. */
function isoOf(text: string): string {
  const parts = fromJson.exec(text);
  return parts ? `${parts[1]}.${(parts[2] ?? '').padEnd(3, '0')}Z` : new Date(text).toISOString();
}

export { Int } from 'type-graphql';

/** Any JSON value. */
export const Json = GraphQLJSON;
/** A JSON object. */
export const JsonObject = GraphQLJSONObject;
/** A calendar day, YYYY-MM-DD. */
export const Day = new GraphQLScalarType({
  ...orNothing(GraphQLLocalDate).toConfig(),
  specifiedByURL: 'https://scalars.graphql.org/andimarek/local-date.html',
});

// A fault of a value in the document names its node: its place is found by that.
function textOf(value: unknown, nodes?: ValueNode): string {
  if (typeof value !== 'string') throw new GraphQLError('must be a day (YYYY-MM-DD) or an ISO 8601 date-time', { nodes });
  return value;
}

/** A day or an instant, as text: one end of a date range, or a deadline. Its field's rule looks at it, and names the field. */
export const DateOrDateTime = new GraphQLScalarType<string, string>({
  name: 'DateOrDateTime',
  description:
    "A day (YYYY-MM-DD) or an ISO 8601 date-time. A day is the whole of it, in the workspace's time zone; so is a date-time without an offset, where one is taken.",
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: String,
  parseValue: (value) => textOf(value),
  parseLiteral: (node) => textOf(node.kind === Kind.STRING ? node.value : undefined, node),
});

const decimalText = /^-?\d{1,30}(\.\d{1,30})?$/;

function toDecimalText(value: unknown, nodes?: ValueNode): string | null {
  if (value === '') return null;
  const text = typeof value === 'number' && Number.isFinite(value) ? plain(value) : value;
  if (typeof value === 'number' && !isSureOf(value)) throw new GraphQLError(toBeText, { nodes });
  if (typeof text !== 'string' || !decimalText.test(text)) throw new GraphQLError('must be a decimal number', { nodes });
  return text;
}

/** A number without exponent, so that 1e21 is judged by its digits. */
function plain(value: number): string {
  const text = String(value);
  return /e/i.test(text) ? value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 }) : text;
}

/** An exact decimal: a JSON number (or a decimal string on input, "" for nothing) outside, exact text inside. */
export const Decimal = new GraphQLScalarType<string | null, number>({
  name: 'Decimal',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259#section-6',
  description: 'An exact decimal amount. Written as a number or a decimal string, read as a number.',
  serialize: (value) => Number(value),
  parseValue: (value) => toDecimalText(value),
  parseLiteral(node) {
    // With an exponent it is the number that a variable would be, which may have lost digits; without one it is exact as it is written.
    if (node.kind === Kind.INT || node.kind === Kind.FLOAT)
      return toDecimalText(/e/i.test(node.value) ? Number(node.value) : node.value, node);
    return toDecimalText(node.kind === Kind.STRING ? node.value : undefined, node);
  },
});
