import type { App, Context } from '../kernel/context/context.js';
import { columnName, type Sql, tableName, tableNames } from '../kernel/database/sql.js';
import type { FeedEvent } from '../kernel/events/feedStore.js';
import type { AnyListArgs } from '../kernel/lists/window.js';
import { checkListArgs } from '../kernel/model/connection.js';
import type { AnyTable } from '../kernel/tables/table.js';
import type { ListPlan } from './live.plan.js';

const word = /[a-z_]+/g;

/** Numbers that triggers keep: the alias is the table that they are of (`keptCount`). */
const kept = /\bcounts\b(?: ([a-z_]+))?/g;

/** What the tables of the record types are called, and what leads to them. */
interface Known {
  /** The table of each type. */
  ofType: ReadonlyMap<string, string>;
  /** Every table, with those of the records that it belongs to. */
  owners: ReadonlyMap<string, readonly string[]>;
  /** The columns of each table that change without an event of its records. */
  untoldColumns: ReadonlyMap<string, readonly string[]>;
  /** The tables whose rows come and change without an event of their own. */
  untoldTables: ReadonlySet<string>;
}

const known = new WeakMap<App['registry'], Known>();

function knownOf({ registry }: App): Known {
  const made = known.get(registry) ?? look(registry);
  known.set(registry, made);
  return made;
}

/** The words of a name, and those that stand beside each other together: `call`, `call_flow`, `flow`, … */
function wordsWithin(name: string): string[] {
  const words = name.split('_');
  return words.flatMap((_, from) => words.slice(from).map((_word, length) => words.slice(from, from + length + 1).join('_')));
}

/** By the names of the tables: two types of records may stand in one, as users and the roster do. */
function untoldColumnsOf(tables: readonly AnyTable[]): Map<string, string[]> {
  const columns = new Map<string, string[]>();
  for (const { name, options } of tables)
    columns.set(name, [...(columns.get(name) ?? []), ...(options.withoutEvents ?? []).map(columnName)]);
  return columns;
}

function look({ tables, events }: App['registry']): Known {
  const all = [...tables.values()] as AnyTable[];
  const told = new Set([...events.values()].map(({ of }) => of.type));
  const records = new Set(all.flatMap((table) => (told.has(table.type.name) ? [table.name] : [])));
  // Of `deal_products` both deals and products, of `call_flow_versions` call flows: a part is told of with what it is a part of.
  const ownersOf = (name: string) =>
    records.has(name) ? [name] : wordsWithin(name).flatMap((part) => [part, tableName(part)].filter((one) => records.has(one)));
  return {
    ofType: new Map(all.filter(({ name }) => records.has(name)).map(({ type, name }) => [type.name, name])),
    owners: new Map(tableNames().flatMap((name) => (name === 'counts' ? [] : [[name, ownersOf(name)]]))),
    untoldColumns: untoldColumnsOf(all),
    untoldTables: new Set(all.flatMap(({ name, options: { untold } }) => (untold ? [name] : []))),
  };
}

/** The tables of records that a statement reads, and whether it reads what any event may change. */
function readBy({ owners, untoldColumns, untoldTables }: Known, statement: string): { tables: string[]; isAny: boolean } {
  const words = new Set(statement.match(word));
  const named = [...owners].filter(([table]) => words.has(table));
  const isUntold = ([table, of]: [string, readonly string[]]) =>
    of.length === 0 || untoldTables.has(table) || untoldColumns.get(table)?.some((column) => words.has(column));
  const isUnknown = [...statement.matchAll(kept)].some(([, of]) => !of || !owners.has(of));
  // What happens to a deal or a contact is noted in their rows, which are then younger.
  return { tables: named.flatMap(([, of]) => of), isAny: isUnknown || words.has('updated_at') || named.some(isUntold) };
}

/** What a live query was read from, as far as events tell of it. */
export class QueryDependencies {
  readonly #tables = new Set<string>();
  /** Whether it read what any event may change. */
  #isAny = false;
  readonly #known: Known;

  constructor(
    app: App,
    private readonly lists: readonly EqualityFilters[],
  ) {
    this.#known = knownOf(app);
  }

  /** A statement was read. */
  note(statement: string): void {
    const { tables, isAny } = readBy(this.#known, statement);
    if (isAny || statement === 'any') this.#isAny = true;
    for (const table of tables) this.#tables.add(table);
  }

  /** Whether an event may have changed what was read. */
  isBy(event: FeedEvent): boolean {
    const table = this.#known.ofType.get(event.type);
    if (this.#isAny || !table || this.#tables.size === 0) return true;
    return this.#tables.has(table) && this.lists.some((list) => list.mayShow(table, event));
  }
}

// A condition that is nothing but `column = value`.
const equality = /^t\.(\w+) = $/;
const casts = ['', '::uuid', '::text'];

/** A field of which all records of a list have one value. */
interface FixedField {
  field: string;
  value: string;
  /** Values that a record may have taken instead, untold: an event that has one of them may be of one that the list shows. */
  leftFor: readonly unknown[];
}

/** A list as far as the records that it can show are known from its arguments. */
export class EqualityFilters {
  readonly #fields: readonly FixedField[];
  readonly #table?: string;

  constructor(ctx: Context, plan: ListPlan) {
    const { table } = plan;
    const filter = table && filterOf(ctx, table, plan);
    this.#table = table?.name;
    this.#fields = filter && !isOpen(ctx, table, plan, filter) ? fieldsOf(ctx, table, filter) : [];
  }

  /** Whether the record of an event, as it was before or after, may be one that the list shows, or lead to what it shows. */
  mayShow(table: string, { data, changes }: FeedEvent): boolean {
    if (table !== this.#table) return true;
    return this.#fields.every(({ field, value, leftFor }) => {
      const known = [data[field], changes?.[field]?.from];
      return !(field in data) || known.some((one) => one === value || leftFor.includes(one));
    });
  }
}

type Filter = Record<string, unknown>;

/** The filter as the list cleans it; none where the list refuses it. */
function filterOf(ctx: Context, { options }: AnyTable, { args }: ListPlan): Filter | undefined {
  const own = structuredClone(args) as AnyListArgs;
  try {
    checkListArgs(options.list, own, ctx);
  } catch {
    return undefined;
  }
  return (own.filter ?? {}) as Filter;
}

/** Whether a list looks at records of its type that are not the ones that it shows: by its conditions, or below what it shows. */
function isOpen(ctx: Context, table: AnyTable, { args, leadsBack, computed }: ListPlan, filter: Filter): boolean {
  if (leadsBack || args.where || filter.filters || filter.smartListId) return true;
  const known = knownOf(ctx.app);
  const looksAt = ({ text }: Sql) => readBy(known, text).tables.includes(table.name);
  return computed.some((one) => looksAt(one.table.computedOf(ctx, one.name)!)) || table.conditions(ctx, filter).some(looksAt);
}

/** The fields of records that a filter asks one value of, where its condition is no more than that. */
const fieldsOf = (ctx: Context, table: AnyTable, filter: Filter) =>
  Object.entries(filter).flatMap(([name, value]) => fieldOf(ctx, table, name, value));

function fieldOf(ctx: Context, table: AnyTable, name: string, value: unknown): FixedField[] {
  if (typeof value !== 'string') return [];
  const [condition] = table.conditions(ctx, { [name]: value });
  const [before = '', after = ''] = condition?.strings ?? [];
  const [, column] = equality.exec(before) ?? [];
  if (!column || condition?.strings.length !== 2 || !casts.includes(after) || condition.values[0] !== value) return [];
  const field = Object.keys(table.shape).find((own) => columnName(own) === column && table.columnOf(own) === `t.${column}`);
  const { withoutEvents = [], movesUntold = {} } = table.options;
  const moves = Object.entries((field && movesUntold[field]) || {});
  // No event tells that a record came to such a value.
  if (!field || withoutEvents.includes(field) || moves.some(([to]) => to === value)) return [];
  return [{ field, value, leftFor: moves.filter(([, from]) => from.includes(value)).map(([to]) => to) }];
}
