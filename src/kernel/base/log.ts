import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { Stdout } from './stdout.js';

/** Members of an error that hold what people entered: rows that PostgreSQL quotes, values of a statement, replies of a mail server. */
const quoting = new Set(['detail', 'where', 'parameters', 'params', 'response', 'rejected', 'rejectedErrors']);

/**
 * An address, as it stands in the words of a mail server. A package in a stack has a slash before its @. It is looked for where a word
 * begins, and in so many characters: a long text costs no more than its length.
 */
const address = /(?<![\p{L}\p{M}\p{N}_.!#$%&*+?^~-])[\p{L}\p{M}\p{N}_.!#$%&*+?^~-]{1,64}@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+/gu;

/** How deep the members of an error are looked at: those of Prisma's lie three levels below. Nothing below is told. */
const deepest = 6;

function withoutQuotes(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.replace(address, '<address>');
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return undefined;
  if (Array.isArray(value)) return value.map((one) => withoutQuotes(one, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return withoutQuotes(value.toJSON(), depth + 1);
  const kept = Object.entries(value).filter(([name]) => !quoting.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutQuotes(member, depth + 1)]));
}

/** An error as the log tells it: without the members that quote what people entered, and without their addresses. */
const err = (error: Error) => withoutQuotes(stdSerializers.err(error));

/** The log of the server: JSON lines of a level and above, on stdout unless said otherwise. */
export function logger(level: string, destination: DestinationStream = new Stdout()): Logger {
  return pino({ level, serializers: { err } }, destination);
}
