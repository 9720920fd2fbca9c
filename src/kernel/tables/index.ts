/** What a module says of its tables: rows, sort keys, relations. */
export { modelRow } from './modelRow.js';
export * from './relation.js';
export * from './sortKeys.js';
export { type ListQuery, type Table, table } from './table.js';
