import { pipeline } from 'node:stream/promises';
import { type CsvError, type Options, parse } from 'csv-parse';
import { AppError, check, type Detail, invalid, invalidField } from '../../kernel/base/errors.js';
import { nextTurn } from '../../kernel/base/eventLoop.js';
import { withoutLead } from '../../kernel/base/formulas.js';
import { Printed } from '../../kernel/base/jsonText.js';
import { jsonObject } from '../../kernel/model/checks.js';
import { mostRows } from './import.model.js';

/** A row under the names of its columns. */
export interface SourceRow {
  data: Printed;
  /** Why it cannot be read. */
  error?: string;
}

interface Source {
  columns: string[];
  rows: SourceRow[];
}

const separators = [',', ';', '\t', '|'];
const mostColumns = 500;
const mostCells = 10_000;

const tooManyColumns = (field: string) => invalidField(field, 'too_many', `must have at most ${mostColumns} columns`);

/** How much of a file is looked at for what separates its cells: a line of more is not looked at to its end. */
const lookedAt = 64 * 1024;

/** The separator that the first line with anything in it has most of, outside of quotes. Throws 400 for too many columns in it. */
function separatorOf(text: string, known: readonly string[]): string {
  const counts = known.map(() => 0);
  let [isQuoted, isEmpty] = [false, true];
  for (let i = 0; i < text.length && i < lookedAt; i++) {
    const letter = text[i]!;
    const isEnd = letter === '\n' || letter === '\r';
    if (isEnd && !isQuoted && !isEmpty) break;
    if (isEmpty && letter.trim() !== '') isEmpty = false;
    if (letter === '"') isQuoted = !isQuoted;
    const nth = isQuoted ? -1 : known.indexOf(letter);
    if (nth >= 0 && ++counts[nth]! === mostColumns) throw tooManyColumns('csv');
  }
  return known[counts.indexOf(Math.max(...counts))]!;
}

// Not told by their own words: those name the text, and change with the library.
const faults: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quotation mark that is not closed',
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: 'has text behind a closing quotation mark',
};

/** Bytes and lines that are parsed without a pause: some milliseconds. */
const [sliceBytes, sliceLines] = [16 * 1024, 250];

const tooManyCells = () => invalidField('csv', 'too_many', `must have lines of at most ${mostCells} cells`);

/** The bytes of a text in slices. Throws 400 for a line that has far more cells than there may be columns. */
async function* slicesOf(text: string, delimiter: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  const [quote, newline, ofOldMacs] = [...'"\n\r'].map((sign) => sign.charCodeAt(0));
  const separator = Buffer.from(delimiter);
  const last = separator.at(-1);
  const [blank, tab] = [...' \t'].map((sign) => sign.charCodeAt(0));
  const isSeparator = (at: number) =>
    bytes[at] === last && (separator.length === 1 || bytes.subarray(at + 1 - separator.length, at + 1).equals(separator));
  // A mark within a cell is a sign of it; one at its beginning opens it, and two in an opened one are a sign.
  let [isQuoted, isBeginning, cells, lines, from] = [false, true, 0, 0, 0];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    const isEnd = !isQuoted && (byte === newline || byte === ofOldMacs);
    const isNext = !isQuoted && !isEnd && isSeparator(at);
    if (byte === quote) isQuoted = !isQuoted && (isBeginning || bytes[at - 1] === quote);
    if (isEnd) [cells, lines] = [0, lines + 1];
    if (isNext && ++cells > mostCells) throw tooManyCells();
    isBeginning = isEnd || isNext || (isBeginning && (byte === blank || byte === tab));
    if (at - from < sliceBytes && lines < sliceLines) continue;
    yield bytes.subarray(from, at + 1);
    [from, lines] = [at + 1, 0];
    await nextTurn();
  }
  yield bytes.subarray(from);
}

/** Hands on the cells of each line, as the text is parsed. What is thrown ends it. */
async function eachLine(csv: string, take: (cells: string[]) => void): Promise<void> {
  // Excel's own first line, where it says what it separates by.
  const [hint, told] = /^\s*sep=(.)\r?\n/.exec(csv) ?? ['', undefined];
  const text = csv.slice(hint.length);
  const delimiter = separatorOf(text, told ? [told] : separators);
  // Blanks around a tab would be the tabs beside it.
  const kept: Options = { trim: delimiter !== '\t', skip_records_with_empty_values: true };
  // Joined files end their lines in more than one way; by itself the parser takes the end of the first line for that of all.
  const record_delimiter = ['\r\n', '\n', '\r'];
  // Spreadsheets take a quotation mark inside a cell as a sign: 5' 10".
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    ...kept,
  });
  try {
    await pipeline(slicesOf(text, delimiter), parser, async (lines: AsyncIterable<string[]>) => {
      for await (const cells of lines) take(cells);
    });
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code, lines } = error as CsvError;
    const what = faults[code] ?? 'is not valid CSV';
    throw invalidField('csv', 'invalid_format', typeof lines === 'number' ? `${what}, in line ${lines}` : what);
  }
}

/** Every column has a name of its own: what has none is numbered, what comes twice is counted. */
function columnsOf(header: string[]): string[] {
  const names = header.map((cell, i) => cell.trim() || `Column ${i + 1}`);
  const known = new Set(names);
  const counted = new Map<string, number>();
  return names.map((name) => {
    let nth = (counted.get(name) ?? 0) + 1;
    // Whoever made the file may have counted before, and called another column so.
    while (nth > 1 && known.has(`${name} (${nth})`)) nth++;
    counted.set(name, nth);
    return nth === 1 ? name : `${name} (${nth})`;
  });
}

/** What is kept of the rows, where each cell is kept with the name of its column. */
const mostKept = 64 * 1024 * 1024;

/**
 * The rows of a CSV file; one that has more cells than there are columns cannot be told apart. Throws 400 at the first limit that is
 * passed.
 */
export async function readCsv(csv: string): Promise<Source> {
  let columns: string[] | undefined;
  let names: string[] = [];
  let size = 0;
  const rows: SourceRow[] = [];
  await eachLine(csv, (cells) => {
    if (!columns) {
      if (cells.length > mostColumns) throw tooManyColumns('csv');
      columns = columnsOf(cells);
      names = columns.map((name) => JSON.stringify(name));
      return;
    }
    check(rows.length < mostRows, () => invalidField('csv', 'too_many', `must have at most ${mostRows} rows`));
    const data = printed(names, cells);
    size += data.text.length;
    check(size <= mostKept, () => invalidField('csv', 'too_long', 'must be at most 64 MiB with the name of its column at each cell'));
    const extra = cells.length > names.length && cells.slice(names.length).some((cell) => cell.trim() !== '');
    rows.push(extra ? { data, error: `has more than ${names.length} cells` } : { data });
  });
  check(columns && rows.length > 0, () =>
    invalidField('csv', 'too_few', 'must have a line with the names of the columns and at least one row'),
  );
  return { columns, rows };
}

/** The cells of a row that say anything, under the names of their columns. */
function printed(names: readonly string[], cells: readonly string[]): Printed {
  const members: string[] = [];
  for (let i = 0; i < names.length && i < cells.length; i++) {
    if (cells[i] !== '') members.push(`${names[i]}:${JSON.stringify(withoutLead(cells[i]!))}`);
  }
  return new Printed(`{${members.join()}}`);
}

const rowFault = jsonObject(64 * 1024);

/** Reads rows that came as objects. The columns are the names of all their members. Throws 400 naming the rows at fault. */
export async function readRows(given: readonly object[]): Promise<Source> {
  check(given.length > 0, () => invalidField('rows', 'too_few', 'must have at least one row'));
  const columns = new Set<string>();
  const details: Detail[] = [];
  const rows: SourceRow[] = [];
  let size = 0;
  for (const [nth, row] of given.entries()) {
    for (const name of Object.keys(row)) columns.add(name);
    if (columns.size > mostColumns) throw tooManyColumns('rows');
    rowFault(row, `rows.${nth}`, (field, code, message) => void details.push({ field, code, message }), {});
    const data = new Printed(JSON.stringify(row));
    rows.push({ data });
    size += data.text.length;
    if (size < sliceBytes) continue;
    size = 0;
    await nextTurn();
  }
  if (details.length > 0) throw invalid(details.slice(0, 100));
  return { columns: [...columns], rows };
}
