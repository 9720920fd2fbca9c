import { maxNesting } from '../http/largeJson.js';
import { badRequest, invalidField } from '../kernel/base/errors.js';
import { isPoison } from '../kernel/base/objects.js';

/**
 * Refuses variables that no body may hold, since not all of them come in one: those of a WebSocket, of a query string, and those that
 * are JSON in a text. Throws 400.
 */
export function checkVariables(variables: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(variables)) checkValue(value, `variables.${name}`, 1);
}

function checkValue(value: unknown, at: string, level: number): void {
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalidField(at, 'out_of_range', 'must be a number that can be kept');
  if (typeof value !== 'object' || value === null) return;
  // What reads them calls itself for every level.
  if (level > maxNesting) throw badRequest(`The variables nest deeper than ${maxNesting} levels`);
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (isPoison(name, member)) throw badRequest(`The variables have a member called ${name}`);
    if (typeof member === 'object' || typeof member === 'number') checkValue(member, `${at}.${name}`, level + 1);
  }
}
