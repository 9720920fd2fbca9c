import { type CsvError, parse } from 'csv-parse/sync';
import { check, invalidField } from '../../kernel/base/errors.js';
import { mostRows } from './import.model.js';

/** A row under the names of its columns. */
export interface SourceRow {
  data: Record<string, unknown>;
  /** Why it cannot be read. */
  error?: string;
}

const separators = [',', ';', '\t', '|'];
const mostColumns = 500;

/** The separator that the first line has most of, outside of quotes. */
function separatorOf(text: string): string {
  const counts = new Map(separators.map((separator) => [separator, 0]));
  let quoted = false;
  for (const letter of text) {
    if (letter === '"') quoted = !quoted;
    else if (!quoted && (letter === '\n' || letter === '\r')) break;
    else if (!quoted && counts.has(letter)) counts.set(letter, counts.get(letter)! + 1);
  }
  return separators.reduce((best, one) => (counts.get(one)! > counts.get(best)! ? one : best));
}

// Not told by their own words: those name the text, and change with the library.
const faults: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quotation mark that is not closed',
  INVALID_OPENING_QUOTE: 'has a quotation mark inside a cell that is not quoted',
  CSV_INVALID_CLOSING_QUOTE: 'has text behind a closing quotation mark',
};

function cellsOf(csv: string): string[][] {
  // Excel's own first line, where it says what it separates by.
  const [hint, told] = /^\uFEFF?sep=(.)\r?\n/.exec(csv) ?? ['', undefined];
  const text = csv.slice(hint.length);
  const delimiter = told ?? separatorOf(text);
  const options = { bom: true, delimiter, relax_column_count: true, skip_empty_lines: true };
  try {
    // Blanks around a tab would be the tabs beside it.
    return parse(text, { ...options, trim: delimiter !== '\t', skip_records_with_empty_values: true });
  } catch (error) {
    const { code, lines } = error as CsvError;
    const what = faults[code] ?? 'is not valid CSV';
    throw invalidField('csv', 'invalid_format', typeof lines === 'number' ? `${what}, in line ${lines}` : what);
  }
}

/** Every column has a name of its own: what has none is numbered, what comes twice is counted. */
function columnsOf(header: string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((cell, i) => {
    const name = cell.trim() || `Column ${i + 1}`;
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    return nth === 1 ? name : `${name} (${nth})`;
  });
}

// What a spreadsheet would run as a formula is led by an apostrophe when it is exported: that is no part of the value.
const unescaped = (cell: string) => (/^'[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell);

/** The rows of a CSV file; one that has more cells than there are columns cannot be told apart. */
export function readCsv(csv: string): { columns: string[]; rows: SourceRow[] } {
  const [header, ...records] = cellsOf(csv);
  check(header && records.length > 0, () =>
    invalidField('csv', 'too_few', 'must have a line with the names of the columns and at least one row'),
  );
  check(header.length <= mostColumns, () => invalidField('csv', 'too_many', `must have at most ${mostColumns} columns`));
  check(records.length <= mostRows, () => invalidField('csv', 'too_many', `must have at most ${mostRows} rows`));
  const columns = columnsOf(header);
  const rows = records.map((cells): SourceRow => {
    const data = Object.fromEntries(columns.map((name, i) => [name, unescaped(cells[i] ?? '')]));
    const extra = cells.slice(columns.length).some((cell) => cell.trim() !== '');
    return extra ? { data, error: `has more than ${columns.length} cells` } : { data };
  });
  return { columns, rows };
}

/** The same of rows that came as objects. */
export function readRows(given: Record<string, unknown>[]): { columns: string[]; rows: SourceRow[] } {
  const columns = [...new Set(given.flatMap((row) => Object.keys(row)))];
  check(given.length > 0, () => invalidField('rows', 'too_few', 'must have at least one row'));
  check(columns.length <= mostColumns, () => invalidField('rows', 'too_many', `must have at most ${mostColumns} columns`));
  return { columns, rows: given.map((data) => ({ data })) };
}
