import type { Fault } from '../base/errors.js';
import { isPoison, poison } from '../base/objects.js';

/** What PostgreSQL does not keep in a text. */
export const unstorable = /\p{Surrogate}|\0/u;
export const storableText = 'must be valid Unicode text without NUL';

/** What is wrong with a JSON value that PostgreSQL or an object of ours could not hold, or a reader could not bear, if anything. */
export function jsonFault(value: unknown, depth = 0): Fault | undefined {
  if (depth > 32) return { code: 'too_large', message: 'must not be nested deeper than 32 levels' };
  if (typeof value === 'string') return unstorable.test(value) ? { code: 'invalid_format', message: storableText } : undefined;
  if (typeof value === 'number' && !Number.isFinite(value)) return { code: 'out_of_range', message: 'must hold numbers that can be kept' };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    if (isPoison(key, member)) return { code: 'not_allowed', message: `must not have ${poison}` };
    const fault = jsonFault(key, depth) ?? jsonFault(member, depth + 1);
    if (fault) return fault;
  }
  return undefined;
}
