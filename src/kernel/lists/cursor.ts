import { invalidField } from '../base/errors.js';
import { isUuid } from '../model/checks.js';
import type { KeyType, SortKey } from './listDefinition.js';

/** A row's place in a list: its sort key as text, what leads it, and its id. */
export interface Cursor {
  lead?: string;
  key: string | null;
  id: string;
}

export const encodeCursor = (sort: string, order: string, cursor: Cursor) =>
  Buffer.from(JSON.stringify([sort, order, cursor.key, cursor.id])).toString('base64url');

/** How a key of each type is written in a cursor. */
const keyForms: Record<KeyType, RegExp> = {
  text: /^[^\0]*$/,
  timestamptz: /^\d{1,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/,
  date: /^\d{4,6}-\d\d-\d\d$/,
  integer: /^-?\d{1,10}$/,
  numeric: /^-?\d{1,40}(\.\d{1,40})?$/,
  boolean: /^(true|false)$/,
};

const isKey = (key: unknown, type: KeyType) => typeof key === 'string' && keyForms[type].test(key);

/** The place that a cursor names. Throws 400 for one that is not of this list in this order. */
export function decodeCursor(text: string, sort: string, order: string, { type, lead, nullable }: SortKey): Cursor {
  try {
    const [itsSort, itsOrder, whole, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string, string | null, string];
    if (itsSort === sort && itsOrder === order && isUuid(id)) {
      if (lead) {
        const [first, key] = JSON.parse(String(whole)) as [string, string];
        if (isKey(first, lead.type) && isKey(key, type)) return { lead: first, key, id };
      } else if (isKey(whole, type) || (whole === null && nullable)) return { key: whole, id };
    }
  } catch {
    // falls through to the one answer for every cursor that is not ours
  }
  throw invalidField('after', 'invalid_format', 'is not a cursor of this list in this order');
}
