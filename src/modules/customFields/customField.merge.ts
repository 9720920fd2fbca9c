import { check, tooLarge } from '../../kernel/base/errors.js';
import { withoutNulls } from '../../kernel/base/objects.js';

const cap = 64 * 1024;

/** The values of custom fields after a change: key by key, a null removes its key. Held to 64 KB, else 413. */
export function mergeCustomFields(before: object, given: object | undefined): object | undefined {
  if (given === undefined) return undefined;
  const merged = withoutNulls({ ...before, ...given });
  check(Buffer.byteLength(JSON.stringify(merged)) <= cap, () => tooLarge('customFields', 'must be at most 64 KB of JSON'));
  return merged;
}
