import type { Clock } from '../base/clock.js';
import { joinSql, type Sql, sql } from '../database/sql.js';
import type { UnitOfWork } from '../writes/unitOfWork.js';
import type { NodeSourceOf } from './registry.js';

/**
 * A part of a write that fails, as a unique index does, where a record of the account has this id already, whatever it is. That no
 * other account has it among its records of the same type is for the table's own index.
 */
export function idIsFree<C>(nodes: ReadonlyMap<string, NodeSourceOf<C>>, account: string, id: string): Sql {
  const records = [...nodes.values()].map(({ has }) => sql`exists (${has(account, sql`${id}::uuid`)})`);
  return sql`id_is_free(not (${joinSql(records, ' or ')}))`;
}

/** An id for a row of this unit of work that has to be known before the row is written: it is looked for nowhere. */
export function newId({ app, unit }: { app: { clock: Clock }; unit?: UnitOfWork }): string {
  const id = app.clock.id();
  return unit?.own(id) ?? id;
}
