import { columnName, rawSql, type Sql, sql } from '../database/sql.js';
import type { SortOrder } from '../model/connection.js';
import type { Between } from './rowCondition.js';
import type { Board } from './sortKeys.js';
import type { AnyTable } from './table.js';

/** One end of a relation as a field of the records that lead there. */
interface End {
  /** The field's name. */
  name: string;
  description: string;
  /** The fields of the target that are part of the REST record, all of its own for an empty list. */
  record?: readonly string[];
}

/** The end that leads to one. */
interface OneEnd extends End {
  /**
   * Whether it is never null: the key is not, a foreign key holds it, and what it leads to is shown deleted or not. By default what is
   * deleted is null.
   */
  required?: boolean;
}

/** The end that leads to many: a connection with the arguments of the target's list, or a list where it is short and bounded. */
interface ManyEnd extends End {
  /** The default order, one of the target's sorts; that of its list by default. */
  sort?: string;
  order?: SortOrder;
  /** A board of one column, the parent's, instead of a sort. */
  board?: Board;
  /** Whether the database keeps the total of each parent's records: `keep_count_by` over their key. */
  isCounted?: boolean;
  /** Whether what the targets hold of it may be the key of no record: no foreign key holds it. */
  isLoose?: boolean;
  /** A plain list without pages. */
  listed?: Listed;
}

interface Listed {
  /** Its order over the alias `t`. */
  by: string;
  /** How many it holds at most, where the model's line does not say it. */
  holds?: number;
  /** Where only the latest `holds` are shown: which those are. */
  latest?: string;
  /** Where the latest are no more than come to so many bytes: what each of them is. The first of them is always there. */
  within?: { bytes: number; of: Sql };
}

/** A field that leads from a record to another. `p.key` is what the record holds of it. */
export interface ToOne extends OneEnd {
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
  /** What a row of the target holds of the record, in SQL over the alias `t`; none where the record holds the ids as an array. */
  held?: Held;
  /** Where the record holds the ids as an array: the table that repeats them. */
  repeated?: Between;
}

/** What a row of a target holds of the record that leads there, and the table between them that it is looked up in. */
interface Held {
  key: string;
  join?: string;
}

export type Relation = ToOne | ToMany;

/** A relation as data: the records of `from` hold the key of one of `to`. Both directions, or one of them, are fields. */
export function relation(from: AnyTable, key: string, to: AnyTable, ends: { one?: OneEnd; many?: ManyEnd }): Relation[] {
  const column = from.columnOf(key, '')?.slice(1) ?? columnName(key);
  const made: Relation[] = [];
  if (ends.one) made.push({ kind: 'one', of: from, to, key, column, ...ends.one });
  if (ends.many) {
    const condition = rawSql(`t.${column} = p.key`);
    made.push({ kind: 'many', of: to, to: from, column: to.key, condition, held: { key: `t.${column}` }, ...ends.many });
  }
  return made;
}

/** A table between two others, which holds the keys of both. */
interface Joined extends Between {
  /** The column of a target that `to` is the same as, where that is not its key: so a table between may be the target's own parent. */
  by?: string;
  /** Which rows between count, over the alias `b`; all by default. */
  live?: string;
}

/** Many records of `to` for each of `of`, over a table between them. */
export function relationOver(between: Joined, of: AnyTable, to: AnyTable, end: ManyEnd): Relation {
  const { by = to.key, live = 'true' } = between;
  const both = `b.account_id = t.account_id and b.${between.to} = t.${by} and ${live}`;
  const condition = rawSql(`exists (select 1 from ${between.table} b where ${both} and b.${between.of} = p.key)`);
  const held = { key: `b.${between.of}`, join: `join ${between.table} b on ${both}` };
  return { kind: 'many', of, to, column: of.key, condition, held, ...end };
}

/** Many records of `to` for each of `of`, whose row holds their ids as an array, which a table repeats. */
export const relationByArray = (of: AnyTable, column: string, repeated: Between, to: AnyTable, end: ManyEnd): Relation => ({
  kind: 'many',
  of,
  to,
  column,
  condition: rawSql(`t.${to.key} = any(p.key)`),
  repeated,
  ...end,
});

/** The rows of a short list, alias `t`, numbered in their order as `_nth`: `which` says whose. */
export function listedRows({ to, listed }: ToMany, columns: Sql, which: Sql): Sql {
  const from = listed!.latest ? latestOf(to, listed!, which) : sql`${rawSql(to.name)} t where ${which}`;
  return sql`select ${columns}, row_number() over (order by ${rawSql(listed!.by)}) as _nth from ${from}`;
}

function latestOf({ name }: AnyTable, { holds, latest, within }: Listed, which: Sql): Sql {
  const order = rawSql(latest!);
  const rows = (columns: Sql, most: Sql) => sql`select ${columns} from ${rawSql(name)} t where ${which} order by ${order} limit ${most}`;
  const most = sql`${holds!}::int`;
  if (!within) return sql`(${rows(sql`t.*`, most)}) t`;
  // Mostly all of them fit: to know that costs less than to carry a running sum along with whole rows.
  const sized = rows(sql`t.*, ${within.of} as _bytes`, most);
  const running = sql`select sum(t._bytes) over (order by ${order} rows unbounded preceding) as bytes from (${sized}) t`;
  const few = sql`select greatest(count(*), 1) from (${running}) r where r.bytes <= ${within.bytes}::int`;
  const fitting = sql`(select case when sum(t._bytes) > ${within.bytes}::int then (${few}) else ${most} end from (${sized}) t)`;
  return sql`(${rows(sql`t.*`, fitting)}) t`;
}

/** Which targets a relation to one leads to. */
export const isLedTo = ({ to, required }: Pick<ToOne, 'to' | 'required'>, account: Sql, visible: Sql | undefined): Sql =>
  required ? sql`t.account_id = ${account}` : isThere(to, account, visible);

/** Whether a target of a relation is there, and the caller may see it. */
export const isThere = (to: AnyTable, account: Sql, visible: Sql | undefined): Sql =>
  sql`t.account_id = ${account} and ${to.live} ${visible ? sql`and ${visible}` : sql``}`;
