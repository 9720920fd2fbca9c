import { isScalarType } from 'graphql';
import { Float } from 'type-graphql';
import type { Context } from '../context/context.js';
import { type Kind, type Shape, uuid } from '../database/kinds.js';
import { columnName, emptySql, joinSql, rawSql, type Sql, scalarFieldsOf, sql, tableName } from '../database/sql.js';
import type { TableRows } from '../database/tableRows.js';
import type { ListArgs, SortOrder } from '../model/connection.js';
import { type FieldRule, rulesOf } from '../model/fieldRules.js';
import { DateTime, Decimal } from '../model/scalars.js';
import type { FilterField } from './filterField.js';
import { columnKindOf, type ModelRow, type Shown } from './modelRow.js';
import { conditionsOf, type ParameterConditions } from './parameterConditions.js';
import type { SortKey } from './sortKeys.js';

type Class<T = object> = abstract new (...args: never[]) => T;

/** The SQL of a field that is no column of its own, over the alias `t`: decimals as text, in the form of a row. */
export type ComputedSql = Sql | ((ctx: Context) => Sql);

/** A field of a record that is no column of its own. */
export interface Computed {
  sql: ComputedSql;
  /** It counts records of another table, or sums them up: it takes longer the more there are, so what reads it is no look-up. */
  counts?: true;
  /** How it follows from a row, where that needs no statement. */
  of?(row: object, ctx: Context): unknown;
  /** Its type and description, where the record's class has no line for it. */
  type?: () => unknown;
  isNullable?: boolean;
  description?: string;
  /** The fields of it that are part of the REST record, where the class has no line for it. */
  record?: readonly string[];
  /** Only shown: no condition names it, and nothing is grouped by it. */
  isShown?: true;
}

/** What the arguments of a list come to: which rows, and how they are sorted where the caller does not say. */
export interface ListQuery<S extends string = string> {
  conditions: Sql[];
  /** Which rows count as live, where it is others than the table says. */
  live?: Sql;
  sort?: S | 'board' | null;
  order?: SortOrder | null;
  /** A sort key that depends on the filter, as that of a board does; it goes with `sort: 'board'`. */
  board?: SortKey;
}

export interface TableOptions<
  R extends Shape,
  F extends object,
  S extends string,
  C extends object = object,
  Renamed extends string = string,
  Carried extends string = string,
> {
  /** Its rows: the columns that the model's lines name, and what no record shows. */
  row: ModelRow<R, C>;
  /** The arguments of its list, and its connection; none where it is read only through its parent. */
  list?: Class<ListArgs<F, S>>;
  page?: Class;
  /** How messages name a record; as its type by default. */
  what?: string;
  /** The column that is a row's id within its account, `id` by default. */
  key?: string;
  /** Fields of the record that are kept in a column of another name: `{ timestamp: 'created_at' }`. */
  renamed?: Readonly<Record<Renamed, string>>;
  /** Fields of the record that are no columns. */
  computed?: Record<string, ComputedSql | Computed>;
  /** Those of them that every row carries; the others only rows that are asked for them. */
  carried?: readonly Carried[];
  /** Which rows there are: those that relations lead to. "Not deleted" by default, where rows are deleted softly. */
  live?: Sql;
  /** Which of them a read by id finds; all by default. */
  found?: Sql;
  /** The one that a read without an id finds. */
  unnamed?: Sql;
  /** Which of them a list shows; all by default. */
  listed?: Sql;
  /** What of them the caller may see. */
  visible?: (ctx: Context) => Sql | undefined;
  /** Whether triggers keep the total of the live rows; by default where there is a list of them. */
  counted?: boolean;
  /** What a connection tells of all records that its list finds, as a select of one JSON value: `where` is over the alias `t`. */
  figures?: Record<string, (where: Sql, ctx: Context) => Sql>;
  /**
   * Columns that change with events of other records, or with none: a contact's score, when a webhook was last called. Live queries that
   * read them look again at every event, and conditions on a change of them are refused.
   */
  withoutEvents?: readonly string[];
  /** Those of them of which an event of the record tells some changes all the same: a conversation that is read has nothing unread. */
  toldAtTimes?: readonly string[];
  /** Fields, and members of those, that change with another one, which is what events tell of the change: `{ paidAt: 'status' }`. */
  toldBy?: Readonly<Record<string, string>>;
  /**
   * Computed fields that follow records of other tables, such as how many contacts a company has: live queries go by these tables, and
   * conditions on a change of the field are refused.
   */
  neverTold?: readonly string[];
  /** Fields that stay as they were made, besides those that do so in every record: conditions on a change of them are refused. */
  fixed?: readonly string[];
  /**
   * Values that a field takes without an event, each with those that it takes it from, where its other changes are told: a message that
   * was queued is on its way. What is told of another field meanwhile shows it; what becomes of it is told from what was told before.
   */
  movesUntold?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  /**
   * Whether its rows come and change with the events of other records, or with none: live queries that read it look again at every event.
   */
  untold?: boolean;
  sorts: Record<S, SortKey>;
  byDefault: readonly [S, SortOrder];
  /** Of texts that are the same whatever their case: the columns that have them in lower case. */
  lowered?: Readonly<Record<string, Sql>>;
  /** Fields of several values that are kept elsewhere, as conditions know them: a contact's tags by their names. */
  several?: Readonly<Record<string, FilterField>>;
  /** What a filter asks for besides: instead of the conditions alone. */
  asked?: (ctx: Context, args: ListArgs<F, S>, conditions: Sql[]) => ListQuery | Promise<ListQuery>;
  /** What each field of the filter asks of a row. */
  conditions?: ParameterConditions<F>;
  /** Whether a filter may say the order, as that of a saved list does: `asked` then gives it. */
  isSortedByFilter?: boolean;
}

/** A filter with fields comes with what each of them asks: none is ignored. */
type Filtered<F> = keyof F extends never ? unknown : { conditions: ParameterConditions<F> };

/**
 * The table of a record type: its rows, how they are found and sorted. Columns follow from the model's lines and Prisma's
 * fields. All SQL is over the alias `t`.
 */
export class Table<R extends Shape = Shape, F extends object = object, S extends string = string> implements TableRows<R> {
  /** Its name in the database. */
  readonly name: string;
  readonly type: Class;
  readonly what: string;
  readonly key: string;
  readonly live: Sql;
  readonly found: Sql;
  readonly listed: Sql;
  readonly isCounted: boolean;
  /** What the columns of a row are. */
  readonly shape: R;
  /** The columns of a row as a select list, without what depends on the caller. */
  readonly columns: Sql;
  readonly counts: boolean;
  readonly computed: Readonly<Record<string, Computed>>;
  readonly #rules: ReadonlyMap<string, FieldRule>;
  /** The fields of the record that are columns, each as its column. */
  readonly #columns: ReadonlyMap<string, string>;

  constructor(readonly options: TableOptions<Shape, F, S>) {
    const { row, key = 'id', computed = {}, carried = [] } = options;
    const fields = scalarFieldsOf(row.model);
    // Whatever a record shows, a row is known by its key.
    const renamed = key === 'id' ? (options.renamed ?? {}) : { id: key, ...options.renamed };
    this.name = tableName(row.model);
    this.type = row.type;
    this.what = options.what ?? row.type.name;
    this.key = key;
    this.live = options.live ?? (fields.includes('deletedAt') ? sql`t.deleted_at is null` : sql`true`);
    this.found = options.found ?? this.live;
    this.listed = options.listed ?? this.live;
    this.isCounted = options.counted ?? options.list !== undefined;
    this.computed = Object.fromEntries(Object.entries(computed).map(([name, given]) => [name, isSql(given) ? { sql: given } : given]));
    this.#rules = new Map(rulesOf(row.type).map((rule) => [rule.name, rule]));
    const own = Object.keys(row.shape).filter((name) => !renamed[name] && !computed[name]);
    this.#columns = new Map([...own.map((name) => [name, columnName(name)] as const), ...Object.entries(renamed)]);
    const kinds = Object.fromEntries([...Object.keys(renamed), ...carried].map((name) => [name, this.#kindOf(name)]));
    // As `table` says it to the compiler: by the lines of the class, which `kinds` are made of.
    this.shape = { ...row.shape, ...kinds } as R;
    const columns = rawSql([...this.#columns].map(([name, column]) => this.#selected(name, column)).join(', '));
    const fixed = carried.filter((name) => typeof this.computed[name]!.sql !== 'function');
    this.columns = joinSql([columns, ...fixed.map((name) => named(this.computed[name]!.sql as Sql, name))], ', ');
    this.counts = fixed.some((name) => this.computed[name]!.counts);
  }

  #kindOf(name: string): Kind<unknown> {
    const rule = this.#rules.get(name);
    return rule ? columnKindOf(rule) : uuid;
  }

  /** Its rows with other columns: what else is read with them, over the alias `t`, and whether these count records. */
  reading<O extends Shape>(shape: O, columns: Sql, { counts = false }: { counts?: boolean } = {}): TableRows<O> {
    const { name, what, key, live, found } = this;
    return { name, what, key, live, found, shape, columns, counts };
  }

  get sorts(): Record<S, SortKey> {
    return this.options.sorts;
  }

  /** The column of a field over an alias; undefined for what is no column. */
  columnOf(name: string, alias = 't'): string | undefined {
    const column = this.#columns.get(name);
    return column && `${alias}.${column}`;
  }

  /** A field that is computed, in the form of a row. */
  computedOf(ctx: Context, name: string): Sql | undefined {
    const how = this.computed[name]?.sql;
    return typeof how === 'function' ? how(ctx) : how;
  }

  /** The columns of a row, with these computed fields besides those that every row carries, as a select list. */
  columnsWith(ctx: Context, names: Iterable<string> = []): Sql {
    const { carried = [] } = this.options;
    const changing = carried.filter((name) => typeof this.computed[name]?.sql === 'function');
    const wanted = [...new Set([...changing, ...names])].filter(
      (name) => this.computed[name] && (changing.includes(name) || !carried.includes(name)),
    );
    if (wanted.length === 0) return this.columns;
    return joinSql([this.columns, ...wanted.map((name) => named(this.computedOf(ctx, name)!, name))], ', ');
  }

  /** Whether the columns of a row with these computed fields, as `columnsWith` has them, count records. */
  countsWith(names: readonly string[]): boolean {
    const { carried = [] } = this.options;
    return [...carried, ...names].some((name) => this.computed[name]?.counts);
  }

  /** The id of a row. */
  get id(): Sql {
    return rawSql(`t.${this.key}`);
  }

  /** The rows of an account that are asked for, without those that are not found by their ids or not seen by the caller. */
  readable(ctx: Context, account: Sql, isAsked: Sql): Sql {
    const visible = this.options.visible?.(ctx);
    return sql`t.account_id = ${account} and ${isAsked} and ${this.found} ${visible ? sql`and ${visible}` : emptySql}`;
  }

  /** What the fields of a filter ask of a row. */
  conditions(ctx: Context, filter: F | null | undefined): Sql[] {
    return this.options.conditions ? conditionsOf(this.options.conditions, ctx, filter) : [];
  }

  /** What the arguments of its list come to. */
  async asked(ctx: Context, args: ListArgs<F, S>): Promise<ListQuery> {
    const conditions = this.conditions(ctx, args.filter);
    const asked = this.options.asked ? await this.options.asked(ctx, args, conditions) : { conditions };
    const visible = this.options.visible?.(ctx);
    return visible ? { ...asked, conditions: [...asked.conditions, visible] } : asked;
  }

  #selected(name: string, column: string): string {
    const { asText, sql: type } = this.shape[name]!;
    return `t.${column}${asText ? '::text' : type === 'double precision' ? '::float8' : ''} as "${name}"`;
  }

  /** A column as the API prints it; undefined for a field that is none, or an object of its own. */
  printed(name: string): string | undefined {
    const column = this.columnOf(name);
    const rule = this.#rules.get(name);
    return column && rule ? printedColumn(rule, column) : undefined;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a table of any filter and any sort
export type AnyTable = Table<any, any, any>;

/**
 * A table, whose rows have of the class's fields those that are columns, those that are kept under another name and those that are carried.
 */
export const table = <
  R extends Shape,
  F extends object,
  S extends string,
  C extends object,
  Renamed extends string = never,
  Carried extends string = never,
>(
  options: TableOptions<R, F, S, C, Renamed, Carried> & Filtered<F>,
): Table<R & Shown<C, 'id' | Renamed | Carried>, F, S> => new Table(options);

const named = (value: Sql, name: string): Sql => sql`${value} as ${rawSql(`"${name}"`)}`;
const isSql = (given: ComputedSql | Computed): given is ComputedSql => typeof given === 'function' || 'strings' in given;

const plain = new Set<unknown>([String, Number, Boolean]);

function printedColumn(rule: FieldRule, column: string): string | undefined {
  const type = rule.type();
  if (type === DateTime) return `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  if (type === Decimal) return `trim_scale(${column})`;
  if (type === Float) return `${column}::float8`;
  return isScalarType(type) || typeof type !== 'function' || plain.has(type) ? column : undefined;
}
