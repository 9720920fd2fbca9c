import { Printed } from './printed.js';
import { columnName, emptySql, joinSql, rawSql, type Sql, sql } from './sql.js';

/** Rows of one table that name the same columns: they are written by one clause. */
export interface Batch {
  kind: 'insert' | 'update';
  table: string;
  fields: string[];
  rows: Record<string, unknown>[];
  ids: Set<unknown>;
}

/** Adds a row to the last batch of its table where it fits, else as a batch of its own. */
export function addRow(batches: Batch[], kind: Batch['kind'], table: string, row: Record<string, unknown>): void {
  const fields = Object.keys(row).filter((field) => row[field] !== undefined);
  const last = batches.filter((batch) => batch.table === table).at(-1);
  const fits = last?.kind === kind && last.fields.length === fields.length && last.fields.every((f, i) => f === fields[i]);
  // Two changes of one row must follow each other; a single clause would make only one of them.
  if (fits && (kind === 'insert' || !last.ids.has(row.id))) {
    last.rows.push(row);
    last.ids.add(row.id);
  } else batches.push({ kind, table, fields, rows: [row], ids: new Set([row.id]) });
}

/** One statement for all batches, but for a second batch of the same table, which comes after the first. */
export function statementsOf(batches: Batch[]): Batch[][] {
  const statements: Batch[][] = [];
  let tables = new Set<string>();
  for (const batch of batches) {
    const isFirst = !tables.has(batch.table);
    if (statements.length === 0 || !isFirst) {
      statements.push([]);
      tables = new Set();
    }
    statements.at(-1)!.push(batch);
    tables.add(batch.table);
  }
  return statements;
}

/** Every batch as one clause of one statement: foreign keys between them are checked at its end. */
export function statementOf(batches: Batch[], locks: Sql[]): Sql {
  const clauses = batches.map((batch, i) => sql`${rawSql(`w${i}`)} as (${batch.kind === 'insert' ? insertion(batch) : change(batch)})`);
  const taken = locks.map((lock) => sql`, (select ${lock})::text`);
  return sql`with ${joinSql(clauses, ', ')} select '' as written${joinSql([...taken, emptySql], '')}`;
}

// Written by hand: an object of forty members made only to be printed costs more than its text.
function asJson({ fields, rows }: Batch): string {
  const names = fields.map((field) => `"${columnName(field)}":`);
  const texts = rows.map((row) => `{${fields.map((field, i) => names[i] + textOf(row[field])).join()}}`);
  return `[${texts.join()}]`;
}

const textOf = (value: unknown) => (value instanceof Printed ? value.text : (JSON.stringify(value) ?? 'null'));

function insertion(batch: Batch): Sql {
  const { table, fields } = batch;
  const columns = fields.map(columnName).join(', ');
  return sql`${rawSql(`insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, `)}${asJson(batch)}::json)`;
}

function change(batch: Batch): Sql {
  const { table, fields } = batch;
  const set = fields.filter((f) => f !== 'accountId' && f !== 'id').map((f) => `${columnName(f)} = v.${columnName(f)}`);
  return sql`${rawSql(`update ${table} t set ${set.join(', ')} from json_populate_recordset(null::${table}, `)}${asJson(batch)}::json) v
    where t.account_id = v.account_id and t.id = v.id`;
}
