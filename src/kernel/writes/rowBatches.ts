import { LRUCache } from 'lru-cache';
import { Printed } from '../base/jsonText.js';
import { columnName, emptySql, joinSql, rawSql, type Sql, sql } from '../database/sql.js';

/** The columns of some rows, and what their clause says of them. */
interface Shape {
  /** The same for the same columns of the same table. */
  name: string;
  table: string;
  fields: string[];
  columns: string;
  /** Of each field, how it begins in JSON. */
  members: string[];
}

/** Rows of one table that name the same columns: they are written by one clause. */
export interface Batch {
  kind: 'insert' | 'update';
  shape: Shape;
  rows: Record<string, unknown>[];
  ids: Set<unknown>;
}

const shapes = new LRUCache<string, Shape>({ max: 1000 });

/** The shape of the last row of each table: the next one mostly has it too, which costs less to see than its name to make. */
const lastShapes = new Map<string, Shape>();

function shapeOf(table: string, row: Record<string, unknown>): Shape {
  const last = lastShapes.get(table);
  if (last && hasShape(row, last)) return last;
  const shape = namedShape(table, row);
  lastShapes.set(table, shape);
  return shape;
}

function hasShape(row: Record<string, unknown>, { fields }: Shape): boolean {
  let seen = 0;
  for (const field in row) {
    if (row[field] === undefined) continue;
    if (fields[seen++] !== field) return false;
  }
  return seen === fields.length;
}

function namedShape(table: string, row: Record<string, unknown>): Shape {
  const fields = Object.keys(row).filter((field) => row[field] !== undefined);
  const name = `${table} ${fields}`;
  const known = shapes.get(name);
  if (known) return known;
  const names = fields.map(columnName);
  const shape = {
    name,
    table,
    fields,
    columns: names.join(', '),
    members: names.map((column, nth) => `${nth > 0 ? ',' : ''}"${column}":`),
  };
  shapes.set(name, shape);
  return shape;
}

/** Adds a row to the last batch of its table where it fits, else as a batch of its own. */
export function addRow(batches: Batch[], kind: Batch['kind'], table: string, row: Record<string, unknown>): void {
  const shape = shapeOf(table, row);
  const last = batches.filter((batch) => batch.shape.table === table).at(-1);
  // Two changes of one row must follow each other; a single clause would make only one of them.
  if (last?.kind === kind && last.shape.name === shape.name && (kind === 'insert' || !last.ids.has(row.id))) {
    last.rows.push(row);
    last.ids.add(row.id);
  } else batches.push({ kind, shape, rows: [row], ids: new Set([row.id]) });
}

/** One statement for all batches, but for a second batch of the same table, which comes after the first. */
export function statementsOf(batches: Batch[]): Batch[][] {
  const statements: Batch[][] = [];
  let tables = new Set<string>();
  for (const batch of batches) {
    const isFirst = !tables.has(batch.shape.table);
    if (statements.length === 0 || !isFirst) {
      statements.push([]);
      tables = new Set();
    }
    statements.at(-1)!.push(batch);
    tables.add(batch.shape.table);
  }
  return statements;
}

/** Every batch as one clause of one statement: foreign keys between them are checked at its end. */
export function statementOf(batches: Batch[], locks: Sql[]): Sql {
  const clauses = batches.map((batch, i) => sql`${rawSql(`w${i}`)} as (${batch.kind === 'insert' ? insertion(batch) : change(batch)})`);
  const taken = locks.map((lock) => sql`, (select ${lock})::text`);
  const tables = clauses.length > 0 ? sql`with ${joinSql(clauses, ', ')} ` : emptySql;
  return sql`${tables}select '' as written${joinSql([...taken, emptySql], '')}`;
}

// Written by hand: an object of forty members made only to be printed costs more than its text.
function asJson({ shape: { fields, members }, rows }: Batch): string {
  let text = '[';
  for (const [nth, row] of rows.entries()) {
    text += nth > 0 ? ',{' : '{';
    for (const [i, field] of fields.entries()) text += members[i] + textOf(row[field]);
    text += '}';
  }
  return `${text}]`;
}

const textOf = (value: unknown) => {
  if (value === null) return 'null';
  return value instanceof Printed ? value.text : (JSON.stringify(value) ?? 'null');
};

function insertion(batch: Batch): Sql {
  const { table, columns } = batch.shape;
  return sql`${rawSql(`insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, `)}${asJson(batch)}::json)`;
}

function change(batch: Batch): Sql {
  const { table, fields } = batch.shape;
  const set = fields.filter((f) => f !== 'accountId' && f !== 'id').map((f) => `${columnName(f)} = v.${columnName(f)}`);
  return sql`${rawSql(`update ${table} t set ${set.join(', ')} from json_populate_recordset(null::${table}, `)}${asJson(batch)}::json) v
    where t.account_id = v.account_id and t.id = v.id`;
}
