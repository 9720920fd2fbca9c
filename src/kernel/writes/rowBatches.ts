import { LRUCache } from 'lru-cache';
import { jsonSize, Printed } from '../base/jsonText.js';
import { columnName, emptySql, joinSql, rawSql, type Sql, sql } from '../database/sql.js';
import { type LockRequest, lockSql, sharedLocksSql } from './locks.js';

/** The columns of some rows, and what their clause says of them. */
export interface RowLayout {
  /** Identifies the layout: one name for one set of columns of one table. */
  name: string;
  table: string;
  fields: string[];
  columns: string;
  /** Of each field, how it begins in JSON. */
  members: string[];
}

/** Rows of one table that name the same columns: they are written by one clause. */
export interface RowBatch {
  kind: 'insert' | 'update';
  layout: RowLayout;
  rows: Record<string, unknown>[];
  ids: Set<unknown>;
  /** About how many characters its rows take as JSON. */
  size: number;
}

const layouts = new LRUCache<string, RowLayout>({ max: 1000 });

/** The layout of the last row of each table: the next one mostly has it too, which costs less to see than its name to make. */
const lastLayouts = new Map<string, RowLayout>();

function layoutOf(table: string, row: Record<string, unknown>): RowLayout {
  const last = lastLayouts.get(table);
  if (last && hasLayout(row, last)) return last;
  const layout = namedLayout(table, row);
  lastLayouts.set(table, layout);
  return layout;
}

function hasLayout(row: Record<string, unknown>, { fields }: RowLayout): boolean {
  let seen = 0;
  for (const field in row) {
    if (row[field] === undefined) continue;
    if (fields[seen++] !== field) return false;
  }
  return seen === fields.length;
}

function namedLayout(table: string, row: Record<string, unknown>): RowLayout {
  const fields = Object.keys(row).filter((field) => row[field] !== undefined);
  const name = `${table} ${fields}`;
  const known = layouts.get(name);
  if (known) return known;
  const names = fields.map(columnName);
  const layout = {
    name,
    table,
    fields,
    columns: names.join(', '),
    members: names.map((column) => `"${column}":`),
  };
  layouts.set(name, layout);
  return layout;
}

/** Rows that one clause writes, and characters of them: few enough for its statement not to take long. A single row may have more. */
const mostRows = 1000;
export const mostCharacters = 2_000_000;

/** About how many characters a row takes as JSON, but for the names of its columns. */
function sizeOf(row: Record<string, unknown>): number {
  let size = 0;
  for (const field in row) {
    const value = row[field];
    if (typeof value === 'string') size += value.length;
    else if (value instanceof Printed) size += value.text.length;
    else if (typeof value === 'object' && value !== null && !(value instanceof Date)) size += jsonSize(value);
  }
  return size;
}

/**
 * Adds a row to the last batch of its table where it fits, else as a batch of its own. Not to one of a statement before the last, unless
 * it `refersToNone`: what it refers to may be written by that.
 */
export function addRow(
  batches: RowBatch[],
  kind: RowBatch['kind'],
  table: string,
  row: Record<string, unknown>,
  { refersToNone = false } = {},
): void {
  const layout = layoutOf(table, row);
  const open = refersToNone ? batches : (statementsOf(batches).at(-1) ?? []);
  const last = open.filter((batch) => batch.layout.table === table).at(-1);
  // Two changes of one row must follow each other; a single clause would make only one of them.
  const size = sizeOf(row);
  const hasRoom = last && last.rows.length < mostRows && last.size + size <= mostCharacters;
  if (hasRoom && last.kind === kind && last.layout.name === layout.name && (kind === 'insert' || !last.ids.has(row.id))) {
    last.rows.push(row);
    last.ids.add(row.id);
    last.size += size;
  } else batches.push({ kind, layout, rows: [row], ids: new Set([row.id]), size });
}

/** The rows of a table that are to be inserted. */
export const insertedInto = (batches: RowBatch[], table: string): Record<string, unknown>[] =>
  batches.flatMap(({ kind, layout, rows }) => (kind === 'insert' && layout.table === table ? rows : []));

/** Gives a row that is to be inserted new values; false where there is none, or where it names no such columns. */
export function changeWaiting(batches: RowBatch[], table: string, values: Record<string, unknown>): boolean {
  for (const batch of batches) {
    const { kind, layout, ids, rows } = batch;
    if (kind !== 'insert' || layout.table !== table || !ids.has(values.id)) continue;
    if (!Object.keys(values).every((field) => layout.fields.includes(field))) return false;
    const at = rows.findIndex(({ id }) => id === values.id);
    // Another object: the row as it was is in the hands of who made it.
    rows[at] = { ...rows[at], ...values };
    batch.size += sizeOf(values);
    return true;
  }
  return false;
}

/** Takes a change of a row that waits out of its batch; undefined where there is none. */
export function takeChange(batches: RowBatch[], table: string, id: unknown): Record<string, unknown> | undefined {
  for (const [nth, batch] of batches.entries()) {
    const { kind, layout, ids, rows } = batch;
    if (kind !== 'update' || layout.table !== table || !ids.delete(id)) continue;
    const [row] = rows.splice(
      rows.findIndex((each) => each.id === id),
      1,
    );
    if (rows.length === 0) batches.splice(nth, 1);
    else batch.size -= sizeOf(row!);
    return row;
  }
  return undefined;
}

/** One statement for all batches, but for a second batch of the same table, which comes after the first. */
export function statementsOf(batches: RowBatch[]): RowBatch[][] {
  const statements: RowBatch[][] = [];
  let tables = new Set<string>();
  for (const batch of batches) {
    const isFirst = !tables.has(batch.layout.table);
    if (statements.length === 0 || !isFirst) {
      statements.push([]);
      tables = new Set();
    }
    statements.at(-1)!.push(batch);
    tables.add(batch.layout.table);
  }
  return statements;
}

/** Every batch as one clause of one statement: foreign keys between them are checked at its end. `isAlone` where one unit writes it. */
export const statementOf = (batches: RowBatch[], locks: readonly LockRequest[], isAlone = true): Sql =>
  written(
    batches,
    rawSql("''"),
    locks.map((lock) => lockSql(lock, isAlone)),
  );

/** The batches of units of several accounts as one statement, which waits for each lock no longer than `waitMs`. */
// PostgreSQL answers the select before it writes, from left to right; the setting ends with the statement.
export const sharedStatementOf = (batches: RowBatch[], locks: readonly LockRequest[], waitMs: number): Sql =>
  written(batches, rawSql(`set_config('lock_timeout', '${waitMs}', true)`), sharedLocksSql(locks));

function written(batches: RowBatch[], first: Sql, taken: readonly Sql[]): Sql {
  const clauses = batches.map(
    (batch, i) =>
      sql`${rawSql(`w${i}`)} as (${batch.kind === 'insert' ? insertionOf(batch.layout, sql`${jsonOf(batch)}`) : change(batch)})`,
  );
  const tables = clauses.length > 0 ? sql`with ${joinSql(clauses, ', ')} ` : emptySql;
  return sql`${tables}select ${first} as written${joinSql([...taken.map((one) => sql`, (${one})::text`), emptySql], '')}`;
}

/** The rows of a batch as JSON. */
// Written by hand: an object of forty members made only to be printed costs more than its text. What is null need not be said: a column
// that a row does not name is null, too.
export const jsonOf = ({ layout, rows }: RowBatch): string => `[${rows.map((row) => rowText(layout, row)).join()}]`;

function rowText({ fields, members }: RowLayout, row: Record<string, unknown>): string {
  let text = '{';
  for (let i = 0; i < fields.length; i++) {
    const value = row[fields[i]!];
    if (value === null) continue;
    if (text.length > 1) text += ',';
    text += members[i]! + textOf(value);
  }
  return `${text}}`;
}

// The most frequent kinds come first: `JSON.stringify` of a value of unknown kind takes twice as long.
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Printed) return value.text;
  if (value instanceof Date && !Number.isNaN(value.getTime())) return `"${value.toISOString()}"`;
  return JSON.stringify(value) ?? 'null';
}

/** Inserts rows of a layout, in the order in which they are in the JSON. */
export const insertionOf = ({ table, columns }: RowLayout, json: Sql): Sql =>
  sql`${rawSql(`insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, `)}${json}::json)`;

function change(batch: RowBatch): Sql {
  const { table, fields } = batch.layout;
  // In one order, so that two statements wait for each other instead of for ever.
  if (batch.rows.length > 1) batch.rows.sort((a, b) => ((a.id as string) < (b.id as string) ? -1 : 1));
  const set = fields.filter((f) => f !== 'accountId' && f !== 'id').map((f) => `${columnName(f)} = v.${columnName(f)}`);
  return sql`${rawSql(`update ${table} t set ${set.join(', ')} from json_populate_recordset(null::${table}, `)}${jsonOf(batch)}::json) v
    where t.account_id = v.account_id and t.id = v.id`;
}
