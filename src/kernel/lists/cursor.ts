import { invalidField } from '../base/errors.js';
import { rawSql, type Sql } from '../database/sql.js';
import { isUuid } from '../model/checks.js';
import type { KeyType, SortKey } from './sortKeys.js';

/** A row's place in a list: its sort key as text, what leads it, and its id. */
export interface Cursor {
  lead?: string;
  key: string | null;
  id: string;
}

/** A cursor as the API shows it. */
export const encodeCursor = (sort: string, order: string, { key, id }: Cursor) =>
  Buffer.from(JSON.stringify([sort, order, key, id])).toString('base64url');

/** The same as SQL, of a row's key as text and its id. */
export const cursorSql = (sort: string, order: string, key: string, id: string): Sql =>
  rawSql(`translate(encode(convert_to('["${sort}","${order}",' || coalesce(to_json(${key})::text, 'null') || ',"' || ${id} || '"]', 'UTF8'),
    'base64'), E'+/=\\n', '-_')`);

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

/** The place that a cursor names. Throws 400 naming the argument for one that is not of this list in this order. */
export function decodeCursor(argument: 'after' | 'before', text: string, list: { sort: string; order: string; key: SortKey }): Cursor {
  const { type, lead, nullable } = list.key;
  try {
    const [sort, order, whole, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, string, string | null, string];
    if (sort === list.sort && order === list.order && isUuid(id)) {
      if (lead) {
        const [first, key] = JSON.parse(String(whole)) as [string, string];
        if (isKey(first, lead.type) && isKey(key, type)) return { lead: first, key, id };
      } else if (isKey(whole, type) || (whole === null && nullable)) return { key: whole, id };
    }
  } catch {
    // falls through to the one answer for every cursor that is not ours
  }
  throw invalidField(argument, 'invalid_format', 'is not a cursor of this list in this order');
}
