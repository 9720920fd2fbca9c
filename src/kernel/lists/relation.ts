import { columnName, rawSql, type Sql, sql } from '../database/sql.js';
import type { SortOrder } from '../model/connection.js';
import type { Board } from './sortKeys.js';
import type { AnyTable } from './window.js';

/** One end of a relation as a field of the records that lead there. */
interface End {
  /** The field's name. */
  name: string;
  description: string;
  /** The fields of the target that are part of the REST record, all of its own for an empty list. */
  record?: readonly string[];
}

/** The end that leads to many: a connection with the arguments of the target's list, or a list where it is short and bounded. */
interface ManyEnd extends End {
  /** The default order, one of the target's sorts; that of its list by default. */
  sort?: string;
  order?: SortOrder;
  /** A board of one column, the parent's, instead of a sort. */
  board?: Board;
  /** A plain list without pages, which holds at most so many where the model's line does not say it: its order over the alias `t`. */
  listed?: { by: string; holds?: number };
}

/** A field that leads from a record to another. `p.key` is what the record holds of it. */
export interface ToOne extends End {
  kind: 'one';
  of: AnyTable;
  to: AnyTable;
  /** The field of a row that holds the id of the other. */
  key: string;
  column: string;
}

/** A field that leads from a record to many. */
export interface ToMany extends ManyEnd {
  kind: 'many';
  of: AnyTable;
  to: AnyTable;
  /** The column of the record, over the alias `t`, that `condition` knows as `p.key`. */
  column: string;
  /** Whether a row of the target, alias `t`, belongs to the record. */
  condition: Sql;
}

export type Relation = ToOne | ToMany;

/** A relation as data: the records of `from` hold the key of one of `to`. Both directions, or one of them, are fields. */
export function relation(from: AnyTable, key: string, to: AnyTable, ends: { one?: End; many?: ManyEnd }): Relation[] {
  const column = from.columnOf(key, '')?.slice(1) ?? columnName(key);
  const made: Relation[] = [];
  if (ends.one) made.push({ kind: 'one', of: from, to, key, column, ...ends.one });
  if (ends.many) {
    const condition = rawSql(`t.${column} = p.key`);
    made.push({ kind: 'many', of: to, to: from, column: to.key, condition, ...ends.many });
  }
  return made;
}

/** A table between two others, which holds the keys of both. */
interface Between {
  table: string;
  of: string;
  to: string;
}

/** Many records of `to` for each of `of`, over a table between them. */
export function relationOver(between: Between, of: AnyTable, to: AnyTable, end: ManyEnd): Relation {
  const condition = rawSql(`exists (select 1 from ${between.table} b
    where b.account_id = t.account_id and b.${between.to} = t.${to.key} and b.${between.of} = p.key)`);
  return { kind: 'many', of, to, column: of.key, condition, ...end };
}

/** Many records of `to` for each of `of`, whose row holds their ids as an array. */
export const relationByArray = (of: AnyTable, column: string, to: AnyTable, end: ManyEnd): Relation => ({
  ...{ kind: 'many', of, to, column, condition: rawSql(`t.${to.key} = any(p.key)`) },
  ...end,
});

/** Whether a target of a relation is there, and the caller may see it. */
export const isThere = (to: AnyTable, account: string, visible: Sql | undefined): Sql =>
  sql`t.account_id = ${account}::uuid and ${to.live} ${visible ? sql`and ${visible}` : sql``}`;

/** The rows of a short list as JSON, over the alias `t` of the record: for statements that bring them along. */
export function listedRows({ to, column, condition, listed }: ToMany): Sql {
  const rows = sql`select ${to.columns}, row_number() over (order by ${rawSql(listed!.by)}) as _nth from ${rawSql(to.name)} t
    where t.account_id = p.account_id and ${condition} and ${to.live}`;
  return sql`(select coalesce(json_agg(r order by r._nth), '[]') from (select t.account_id, ${rawSql(`t.${column}`)} as key) p
    cross join lateral (${rows}) r)`;
}
