// What a spreadsheet would run as a formula is led by an apostrophe in files, so what begins with apostrophes before such a sign has one
// more there: else nobody could tell the two apart.
const led = /^'+[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;

/** A cell of a file whose own apostrophes are kept apart from the one that leads a formula. */
export const withOwnApostrophes = (cell: string): string => (led.test(cell) ? `'${cell}` : cell);

/** What a cell of a file says: the apostrophe that leads a formula is no part of the value. */
export const withoutLead = (cell: string): string => (led.test(cell) ? cell.slice(1) : cell);
