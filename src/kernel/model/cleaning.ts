import { type Detail, detailOf, invalid } from '../base/errors.js';
import type { CheckScope, Report } from './checks.js';
import { type FieldRule, rulesOf } from './fieldRules.js';

type Class = abstract new (...args: never[]) => object;

/** Cleans `value` in place (trimmed, normalised) by the rules of `type`. Throws 400 naming every field at fault, or 413. */
export function clean(type: Class, value: unknown, scope: CheckScope): void {
  if (value === null || value === undefined) return;
  const details: Detail[] = [];
  cleanObject(
    type,
    value as Record<string, unknown>,
    '',
    (at, code, message, options) => details.push(detailOf(at, { code, message, options })),
    scope,
  );
  if (details.length > 0) throw invalid(details.slice(0, 100));
}

/** Cleans the members of one object in place, and reports what is wrong with them. */
export function cleanObject(type: Class, value: Record<string, unknown>, prefix: string, report: Report, scope: CheckScope) {
  for (const rule of cachedRules(type)) {
    const given = value[rule.name];
    if (given === null && rule.nullIsAbsent) delete value[rule.name];
    if (value[rule.name] === undefined) continue;
    const at = `${prefix}${rule.name}`;
    const cleaned = given === null ? null : rule.check(given, at, report, scope);
    if (cleaned === null && rule.required) report(at, 'required', given === null ? 'must not be null' : 'must not be empty');
    value[rule.name] = cleaned;
  }
  return value;
}

const cache = new WeakMap<object, FieldRule[]>();
function cachedRules(type: Class): FieldRule[] {
  const known = cache.get(type);
  if (known) return known;
  const rules = rulesOf(type);
  cache.set(type, rules);
  return rules;
}
