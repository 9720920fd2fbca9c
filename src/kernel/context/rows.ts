import { notFound } from '../base/errors.js';
import type { Statement } from '../database/statement.js';
import { isUuid } from '../model/checks.js';

/** How rows of a table are read by their ids to be changed. */
export interface ToChange<Row extends object> {
  table: string;
  key: string;
  /** Reads them, with the version that they are of. */
  look: Statement<Row & { id: string; xmin: string }, { ids: readonly string[] }>;
  /** Locks them, before they are read: what belongs to them is then not of before. */
  lock: Statement<{ id: string }, { ids: readonly string[] }>;
}

/** The members that are given, as they will be kept. */
export type Given<C> = { [N in keyof C as undefined extends C[N] ? never : N]: C[N] };

/** The parameters of a statement, left out where it takes none. */
export type Params<P> = keyof P extends never ? [] : [params: P];

/** The id, or 404 when it cannot be one. */
export function validId(id: string, what: string): string {
  if (!isUuid(id)) throw notFound(what);
  return id.toLowerCase();
}
