/**
 * A kind of value: its type in PostgreSQL, and how it is read from a row that came as JSON. What TypeScript takes it for is what
 * is there, wherever a row comes from.
 */
export interface Kind<T> {
  /** The type that a parameter is cast to, and that a column has. */
  readonly sql: string;
  /** Makes the value of its JSON; absent where they are the same. */
  read?(json: unknown): T;
  readonly nullable?: boolean;
  /** Whether it is text that holds JSON. */
  readonly isJson?: boolean;
  /** Whether a column of the kind is selected as text, since JSON or JavaScript would lose some of it. */
  readonly asText?: boolean;
  /** Only for the compiler. */
  readonly of?: T;
}

type Reads<T> = NonNullable<Kind<T>['read']>;

const kind = <T>(sql: string, read?: Reads<T>): Kind<T> => ({ sql, read });

export const uuid = kind<string>('uuid');
export const text = kind<string>('text');
export const integer = kind<number>('integer');
export const real = kind<number>('double precision');
export const flag = kind<boolean>('boolean');
export const instant = kind<Date>('timestamptz', (json: string) => new Date(json));
/** An exact decimal: text on this side. */
export const decimal: Kind<string> = { sql: 'text', asText: true };
/** A calendar day, YYYY-MM-DD: text on this side. */
export const day: Kind<string> = { sql: 'text', asText: true };
/** A 64-bit number: text on this side. */
export const bigint: Kind<string> = { sql: 'text', asText: true };
/** Text that is one of some words. */
export const word = <T extends string>(): Kind<T> => kind<T>('text');
/** JSON as its text: for a list as a parameter, which a driver would take for a list of the database's. */
export const jsonText: Kind<string> = { sql: 'text', isJson: true };
/** JSON that holds neither instants nor exact decimals. */
export const json = <T>(): Kind<T> => kind<T>('json');

export const nullable = <T>({ read, ...kind }: Kind<T>): Kind<T | null> => ({
  ...kind,
  nullable: true,
  ...(read && { read: nullableRead(read) }),
});
export const listOf = <T>({ sql, read }: Kind<T>): Kind<readonly T[]> => ({ sql: `${sql}[]`, ...(read && { read: each(read) }) });

/** Values by name: the columns of a row, or the parameters of a statement. */
export type Shape = Readonly<Record<string, Kind<unknown>>>;
export type ValueOf<K> = K extends Kind<infer T> ? T : never;
export type RowOf<S extends Shape> = { -readonly [N in keyof S]: ValueOf<S[N]> };

/** A record within a row. */
export const record = <S extends Shape>(shape: S): Kind<RowOf<S>> => kind('json', readerOf<RowOf<S>>(shape));
/** A list of records within a row. */
export const records = <S extends Shape>(shape: S): Kind<RowOf<S>[]> => {
  const read = readerOf<RowOf<S>>(shape);
  return kind('json', (rows: object[]) => rows.map(read));
};

function nullableRead<T>(read: Reads<T>): Reads<T | null> {
  return (json) => (json === null ? null : read(json));
}

function each<T>(read: Reads<T>): Reads<T[]> {
  return (json) => (json as unknown[]).map(read);
}

/** What makes a row of its JSON, in place. */
export function readerOf<Row extends object>(shape: Shape): (json: object) => Row {
  const reads = Object.entries(shape).flatMap(([name, { read }]) => (read ? [[name, read] as const] : []));
  return (json) => {
    const row = json as Record<string, unknown>;
    for (const [name, read] of reads) row[name] = read(row[name]);
    return row as Row;
  };
}

type Nullable<S extends Shape> = { [N in keyof S]: null extends ValueOf<S[N]> ? N : never }[keyof S];

/** Null for every column that may be null. */
export const emptyRow = <S extends Shape>(shape: S): { [N in Nullable<S>]: null } =>
  Object.fromEntries(Object.entries(shape).flatMap(([name, { nullable }]) => (nullable ? [[name, null]] : []))) as {
    [N in Nullable<S>]: null;
  };
