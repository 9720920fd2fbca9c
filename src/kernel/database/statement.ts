import { Prisma } from '../../generated/prisma/client.js';
import { type Kind, type RowOf, readerOf, type Shape } from './kinds.js';
import { type Sql, sql } from './sql.js';

/** A statement with its values: what a driver sends. */
export interface Bound {
  /** The text with $1, $2 … */
  readonly text: string;
  readonly values: unknown[];
  /** As `text`: Prisma reads the text of a raw query by this name. */
  readonly sql: string;
}

/** Stands in a statement's text for a parameter. */
class Slot {
  constructor(readonly name: string) {}
}

/** A place in a text for a value of this type. */
export const slot = (name: string, type: string): Sql => new Prisma.Sql(['', `::${type}`], [new Slot(name)]);

/** A text that is composed once, and run with the values of its slots. */
export class Template {
  readonly #text: string;
  readonly #values: unknown[];

  constructor({ text, values }: Sql) {
    this.#text = text;
    this.#values = values;
  }

  with(params: Readonly<Record<string, unknown>>): Bound {
    return bound(
      this.#text,
      this.#values.map((value) => (value instanceof Slot ? params[value.name] : value)),
    );
  }
}

interface Definition<R extends Shape, P extends Shape> {
  /** Its name in logs, tests and metrics; unique. */
  name: string;
  /** The parameters by name; the account is always there besides. */
  takes?: P;
  /** The columns that it answers; none for a statement that is run for its effect. */
  row?: R;
  /** Whether it is planned once: it finds few rows by an index, whatever its values are. */
  planned?: boolean;
  /** Whether those asked for at the same moment, by anybody, may go as one: a look-up by keys. Needs no transaction. */
  shared?: boolean;
  /**
   * Of a shared one: whether it counts records, or goes through them, so that it takes longer the more there are. It goes within the
   * account's share of the connections then, as one with what its context asks for at the same moment, and with nobody else's.
   */
  counts?: boolean;
  /**
   * Whether it is read beside a unit of work that has no transaction yet, from what is committed: for reactions that mostly find
   * nothing, so that finding nothing costs none.
   */
  beside?: boolean;
  /** Whether it is about all accounts on purpose; any other names the account that asks. */
  acrossAccounts?: boolean;
  /** Whether it changes rows. */
  changes?: boolean;
  /** Whether it takes locks, which are kept to the end of the unit of work. */
  locks?: boolean;
  /** The clauses of WITH that change rows, where `text` answers of them: outside of a unit of work it goes past Prisma then. */
  first?(slots: Slots<P>): Sql;
  /** The text, with the parameters where they belong: each is cast to its kind. */
  text(slots: Slots<P>): Sql;
}

type Slots<P extends Shape> = { account: Sql } & { [N in keyof P]: Sql };

/** All statements by name: what the test describes against the database. */
export const statements = new Map<string, Statement<object, never>>();

/** A statement as a value: a name, a text that is written once, parameters by name, and how it may be run. */
export class Statement<Row extends object, Params> {
  readonly name: string;
  readonly read: (json: object) => Row;
  readonly row: Shape;
  readonly planned: boolean;
  readonly shared: boolean;
  readonly counts: boolean;
  readonly beside: boolean;
  readonly changes: boolean;
  readonly locks: boolean;
  readonly acrossAccounts: boolean;
  /** Whether all its rows may be had as one text. */
  readonly listed: boolean;
  #template?: Composed;
  #listed?: { text: string; values: unknown[] };

  constructor(private readonly definition: Definition<Shape, Shape>) {
    const { name, row = {}, planned = false, shared = false, beside = false, changes = false, locks = false, first } = definition;
    this.name = name;
    this.row = row;
    this.read = readerOf<Row>(row);
    this.planned = planned || shared;
    this.shared = shared;
    this.counts = definition.counts ?? false;
    this.beside = beside;
    this.changes = changes;
    this.locks = locks;
    this.acrossAccounts = definition.acrossAccounts ?? false;
    this.listed = !changes || first !== undefined;
  }

  get template() {
    this.#template ??= templateOf(this.definition);
    return this.#template;
  }

  /** The parameters that its text uses, the account among them. */
  get parameters(): string[] {
    return this.template.sql.values.flatMap((value) => (value instanceof Slot ? [value.name] : []));
  }

  /** What its parameters are. */
  get takes(): Shape {
    return this.definition.takes ?? {};
  }

  /** The statement itself with its values. */
  bind(account: string, params: Params): Bound {
    const { sql: template, text } = this.template;
    return bound(text, filled(template.values, account, params));
  }

  /** The statement with its values, answering one text: its rows as a JSON list. */
  bindListed(account: string, params: Params): Bound {
    if (!this.#listed) {
      const { first, rows } = this.template;
      const listed = first ? sql`${first} ${listedSql(rows)}` : listedSql(rows);
      this.#listed = { text: listed.text, values: listed.values };
    }
    return bound(this.#listed.text, filled(this.#listed.values, account, params));
  }

  /** The statement with its values, as a part of a larger statement. */
  part(account: string, params: Params): Sql {
    const { sql: template } = this.template;
    return new Prisma.Sql(template.strings, filled(template.values, account, params));
  }
}

/** Defines a statement. */
export function statement<const R extends Shape, const P extends Shape = Record<never, never>>(
  definition: Definition<R, P>,
): Statement<RowOf<R>, RowOf<P>> {
  if (statements.has(definition.name)) throw new Error(`Two statements are called ${definition.name}`);
  const made = new Statement<RowOf<R>, RowOf<P>>(definition as Definition<Shape, Shape>);
  statements.set(definition.name, made as unknown as Statement<object, never>);
  return made;
}

/** The rows of a select as one JSON text. */
export const listedSql = (rows: Sql): Sql => sql`select coalesce(json_agg(r), '[]')::text from (${rows}) r`;

/** What a statement does first, what it answers, and both as they are sent. */
interface Composed {
  first?: Sql;
  rows: Sql;
  sql: Sql;
  text: string;
}

function templateOf({ takes = {}, first, text }: Definition<Shape, Shape>): Composed {
  const slots: Record<string, Sql> = { account: slot('account', 'uuid') };
  for (const [name, { sql: type }] of Object.entries(takes as Record<string, Kind<unknown>>)) slots[name] = slot(name, type);
  const [changing, rows] = [first?.(slots as { account: Sql }), text(slots as { account: Sql })];
  const whole = changing ? sql`${changing} ${rows}` : rows;
  return { first: changing, rows, sql: whole, text: whole.text };
}

const filled = (template: unknown[], account: string, params: unknown): unknown[] =>
  template.map((value) => (value instanceof Slot ? paramOf(value, account, params as Record<string, unknown>) : value));

const paramOf = ({ name }: Slot, account: string, params: Record<string, unknown>) => (name === 'account' ? account : params[name]);

const bound = (text: string, values: unknown[]): Bound => ({ text, sql: text, values });
