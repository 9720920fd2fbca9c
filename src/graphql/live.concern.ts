import type { App, Context } from '../kernel/context/context.js';
import { columnName, tableName } from '../kernel/database/sql.js';
import type { FeedEvent } from '../kernel/events/feedStore.js';
import type { AnyTable } from '../kernel/lists/window.js';
import type { ListPlan } from './live.plan.js';

/** Tables whose rows come with the events of others. */
const quietTables = ['activities', 'conversations', 'imports', 'accounts'];

const word = /[a-z_]+/g;

/** What the tables of the record types are called, and what leads to them. */
interface Known {
  /** The table of each type. */
  ofType: ReadonlyMap<string, string>;
  /** Every table, with those of the records that it belongs to. */
  owners: ReadonlyMap<string, readonly string[]>;
  /** The columns of each table that change without an event of its records. */
  quiet: ReadonlyMap<string, readonly string[]>;
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

function look({ tables, events }: App['registry']): Known {
  const all = [...tables.values()] as AnyTable[];
  const told = new Set([...events.values()].map(({ of }) => of.type));
  const records = new Set(all.flatMap((table) => (told.has(table.type.name) ? [table.name] : [])));
  // Of `deal_products` both deals and products, of `call_flow_versions` call flows: a part is told of with what it is a part of.
  const ownersOf = (name: string) =>
    records.has(name) ? [name] : wordsWithin(name).flatMap((part) => [part, tableName(part)].filter((one) => records.has(one)));
  return {
    ofType: new Map(all.filter(({ name }) => records.has(name)).map(({ type, name }) => [type.name, name])),
    owners: new Map([...all.map(({ name }) => name), 'contact_tags', 'users', ...quietTables].map((name) => [name, ownersOf(name)])),
    quiet: new Map(all.map(({ name, options: { quiet = [] } }) => [name, quiet.map(columnName)])),
  };
}

/** What a live query was read from, as far as events tell of it. */
export class Concern {
  readonly #tables = new Set<string>();
  /** Whether it read what any event may change. */
  #isAny = false;
  readonly #known: Known;

  constructor(
    app: App,
    private readonly lists: readonly Narrowed[],
  ) {
    this.#known = knownOf(app);
  }

  /** A statement was read. */
  note(statement: string): void {
    if (statement === 'any') this.#isAny = true;
    const words = new Set(statement.match(word));
    for (const [table, owners] of this.#known.owners) {
      if (!words.has(table)) continue;
      if (owners.length === 0 || quietTables.includes(table)) this.#isAny = true;
      if (this.#known.quiet.get(table)?.some((column) => words.has(column))) this.#isAny = true;
      for (const owner of owners) this.#tables.add(owner);
    }
    // What happens to a deal or a contact is noted in their rows, which are then younger.
    if (words.has('updated_at')) this.#isAny = true;
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

/** A list as far as the records that it can show are known from its arguments. */
export class Narrowed {
  /** Fields of its records with the one value that they have. */
  readonly #fields: [string, unknown][];
  readonly #table?: string;

  constructor(ctx: Context, { table, args, leadsBack }: ListPlan) {
    const filter = (args.filter ?? {}) as Record<string, unknown>;
    // Other conditions may look at other records of the type.
    const isPlain = table && !leadsBack && !args.where && !filter.filters;
    this.#table = table?.name;
    this.#fields = isPlain ? Object.entries(filter).flatMap(([name, value]) => fieldOf(ctx, table, name, value)) : [];
  }

  /** Whether the record of an event, as it was before or after, may be one that the list shows, or lead to what it shows. */
  mayShow(table: string, { data, changes }: FeedEvent): boolean {
    if (table !== this.#table) return true;
    return this.#fields.every(([field, value]) => {
      const before = changes?.[field]?.from;
      return !(field in data) || data[field] === value || before === value;
    });
  }
}

/** The field that a filter asks one value of, where its condition is no more than that. */
function fieldOf(ctx: Context, table: AnyTable, name: string, value: unknown): [string, unknown][] {
  if (typeof value !== 'string') return [];
  const [condition] = table.conditions(ctx, { [name]: value });
  const [before = '', after = ''] = condition?.strings ?? [];
  const [, column] = equality.exec(before) ?? [];
  if (!column || condition?.strings.length !== 2 || !casts.includes(after) || condition.values[0] !== value) return [];
  const field = Object.keys(table.shape).find((own) => columnName(own) === column && table.columnOf(own) === `t.${column}`);
  return field ? [[field, value]] : [];
}
