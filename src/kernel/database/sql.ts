import { Prisma } from '../../generated/prisma/client.js';

/** Composable SQL with bound parameters: the only way a value enters a hand-written statement. */
export type Sql = Prisma.Sql;
/** The class of every such value. */
export const SqlValue = Prisma.Sql;
export const sql = Prisma.sql;
export const joinSql = Prisma.join;
export const emptySql = Prisma.empty;
/** Trusted text only: names from our own tables of columns, never anything a caller sent. */
export const rawSql = Prisma.raw;

/**
 * How many rows of a table there are under a name, as triggers keep it: a scalar. The table stands in the statement as the alias of
 * the counts, so that who reads it is known to depend on its rows.
 */
export const keptCount = (account: Sql, table: string, kind: Sql): Sql => {
  const c = rawSql(table);
  return sql`(select coalesce(sum(${c}.n), 0)::int from counts ${c} where ${c}.account_id = ${account} and ${c}.kind = ${kind})`;
};

/**
 * Has the transaction of the statement in which it stands commit without waiting for the disk, where the connection says that it may: a
 * scalar. Should the machine of the database fail, what was committed so in the last second may be as if it had never been, so only for
 * what is harmless to do again. The embedded database ends with our process, and waits for no disk as it is: its connection says nothing.
 */
export const commitsUnawaited = rawSql(
  `set_config('synchronous_commit', coalesce(current_setting('crm.unawaited_commit', true), current_setting('synchronous_commit')), true)`,
);

/** How many live rows of a table an account has. */
export const keptTotal = (account: Sql, table: string): Sql => keptCount(account, table, sql`${table}`);

/** An account's id in a composed statement. */
export const accountSql = (account: string): Sql => sql`${account}::uuid`;

/** `name = value and …` joined, or `true` when there is nothing to join. */
export const allOf = (conditions: Sql[]): Sql => (conditions.length > 0 ? joinSql(conditions, ' and ') : sql`true`);

/** A column's name in the database: assignedTo → assigned_to. */
export function columnName(field: string): string {
  const known = columnNames.get(field);
  if (known) return known;
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  columnNames.set(field, name);
  return name;
}

// Of the fields of our models: as many as they have, and no more.
const columnNames = new Map<string, string>();

/** The fields of a model that are columns. */
export function scalarFieldsOf(model: Prisma.ModelName): string[] {
  const fields = Object.keys((Prisma as unknown as Record<string, object>)[`${model}ScalarFieldEnum`] ?? {});
  if (fields.length === 0) throw new Error(`No model is called ${model}`);
  return fields;
}

/** Escapes the wildcards of LIKE, so that a search for "50%" means just that. */
export const likeText = (text: string) => text.replace(/[\\%_]/g, '\\$&');

/** A model's table: Contact → contacts, OutboxEvent → outbox_events, Activity → activities, ApiKey → api_keys. */
export function tableName(model: string): string {
  const known = namesOfTables.get(model);
  if (known) return known;
  const name = `${columnName(model.charAt(0).toLowerCase() + model.slice(1)).replace(/([^aeiou])y$/, '$1ie')}s`;
  namesOfTables.set(model, name);
  return name;
}

// Of our models, as the names of columns are.
const namesOfTables = new Map<string, string>();

/** The tables whose rows have a field. */
export const tablesWith = (field: string): string[] =>
  Object.values(Prisma.ModelName)
    .filter((model) => scalarFieldsOf(model).includes(field))
    .map(tableName);

/** All tables. */
export const tableNames = (): string[] => Object.values(Prisma.ModelName).map(tableName);
