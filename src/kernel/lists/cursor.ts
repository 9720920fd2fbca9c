import { createHash } from 'node:crypto';
import { invalidField } from '../base/errors.js';
import { rawSql, type Sql, sql } from '../database/sql.js';
import { isDay, isUuid } from '../model/checks.js';
import type { KeyType, OrderKey } from '../tables/sortKeys.js';

/** A row's place in a list: its sort keys as text, and its id. */
export interface Cursor {
  keys: readonly (string | null)[];
  id: string;
}

/** What a cursor is of, besides its row: the table, the names of the keys and their directions, and what the list was narrowed to. */
export interface CursorOf {
  /** The table of the list: nested lists share it with the list of their type. */
  table: string;
  sort: string;
  order: string;
  /**
   * The conditions of the list, in short. A nested list tells none: it goes on in the list of its type, whatever narrows that to
   * its parent.
   */
  conditions?: string;
}

/** A cursor as the API shows it; `key` is the row's one sort key as text, of several a JSON list. */
export const encodeCursor = ({ table, sort, order, conditions }: CursorOf, key: string | null, id: string) =>
  Buffer.from(JSON.stringify([table, sort, order, key, id, ...(conditions === undefined ? [] : [conditions])])).toString('base64url');

/** SQL that makes the cursor of a row. The conditions are a parameter: lists of different ones share their text, which is prepared once. */
export const cursorSql = ({ table, sort, order, conditions }: CursorOf, key: string, id: string): Sql =>
  sql`translate(encode(convert_to(${rawSql(`'["${table}","${sort}","${order}",' || coalesce(to_json(${key})::text, 'null') || ',"' || ${id}`)}
    || ${conditions === undefined ? '"]' : `","${conditions}"]`}::text, 'UTF8'), 'base64'), E'+/=\\n', '-_')`;

/** The conditions of a list in short: the same for the same ones, however they are written; nothing for none. */
export function conditionsInShort(filter: object | null | undefined, where: object | null | undefined): string {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0 && Object.keys(where ?? {}).length === 0) return '';
  const text = JSON.stringify([Object.fromEntries(given), where ?? {}], byName);
  return createHash('sha1').update(text).digest('base64url').slice(0, 10);
}

/** The members of an object by name. */
const byName = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const fits = (form: RegExp) => (key: string) => form.test(key);

const afterDay = /^ ([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,6})?[+-](0\d|1[0-5])(:[0-5]\d)?$/;

/** Whether a text is a key of each type as a cursor has it: what is one here, PostgreSQL can read. */
const isOfType: Record<KeyType, (key: string) => boolean> = {
  text: fits(/^[^\0]*$/),
  timestamptz: (key) => isDay(key.slice(0, 10)) && afterDay.test(key.slice(10)),
  date: isDay,
  integer: (key) => /^-?\d{1,10}$/.test(key) && Math.abs(Number(key)) < 2 ** 31,
  numeric: fits(/^-?\d{1,40}(\.\d{1,40})?$/),
  boolean: fits(/^(true|false)$/),
};

const isKey = (key: unknown, { type, nullable }: OrderKey) =>
  key === null ? nullable === true : typeof key === 'string' && isOfType[type](key);

/**
 * The place that a cursor names. Throws 400 naming the argument for one that is not of this list, in this order and with these conditions.
 */
export function decodeCursor(argument: 'after' | 'before', text: string, list: CursorOf & { keys: readonly OrderKey[] }): Cursor {
  try {
    const [table, sort, order, whole, id, conditions] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const isSameOrder = table === list.table && sort === list.sort && order === list.order;
    const isSame = conditions === undefined || list.conditions === undefined || conditions === list.conditions;
    if (isSameOrder && isSame && isUuid(id)) {
      const keys = (list.keys.length > 1 ? JSON.parse(String(whole)) : [whole]) as (string | null)[];
      if (keys.length === list.keys.length && list.keys.every((key, i) => isKey(keys[i], key))) return { keys, id };
    }
  } catch {
    // falls through to the one answer for every cursor that is not ours
  }
  throw invalidField(argument, 'invalid_format', 'is not a cursor of this list in this order and with these conditions');
}
