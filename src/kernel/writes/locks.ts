import { joinSql, rawSql, type Sql, sql } from '../database/sql.js';

/** Rows of one table that writes depend on, by their ids. */
export interface RowLock {
  /** All locks are taken in the order of their names. */
  name: string;
  table: string;
  key: string;
  /** Which rows count, over the alias `t`; those that are as they were seen, where they were. */
  live?: Sql;
  strength: 'key share' | 'no key update' | 'update';
}

/**
 * How something is held to the end of a unit of work: `shared` with all who take it at the same time, so that they hardly wait for it,
 * `serialized` by one after the other, `exclusive` where no other unit of the same statement may take it.
 */
export type LockMode = 'shared' | 'serialized' | 'exclusive';

/** What a write takes before it writes: something of its own, or rows, each with the version that was seen or null. */
export interface LockRequest {
  name: string;
  account?: string;
  own?: Sql;
  mode?: LockMode;
  rows?: { lock: RowLock; seen: ReadonlyMap<string, string | null> };
}

/** How many rows there are is one and the same text, so that a statement of any number of them is prepared once. */
function rowsThere(
  { table, key, live, strength }: RowLock,
  account: string,
  seen: ReadonlyMap<string, string | null>,
  isAlone: boolean,
): Sql {
  const ids = [...seen.keys()].sort();
  const versions = ids.map((id) => seen.get(id) ?? null);
  // Those who go with others do not wait for who has a row: the others would wait as well.
  const how = rawSql(`for ${strength} of t${isAlone ? '' : ' nowait'}`);
  const counts = live ?? sql`t.xmin::text = s.seen_version`;
  return sql`still_there((select count(*) from (
    select 1 from ${rawSql(table)} t join unnest(${ids}::uuid[], ${versions}::text[]) s(seen_id, seen_version) on t.${rawSql(key)} = s.seen_id
    where t.account_id = ${account}::uuid and ${counts} order by s.seen_id ${how}) held) / ${ids.length}::int)`;
}

/** What is taken, as one value of a select; `isAlone` where one unit of work writes. */
export const lockSql = ({ account, own, rows }: LockRequest, isAlone: boolean): Sql =>
  rows ? rowsThere(rows.lock, account!, rows.seen, isAlone) : own!;

const strengths = ['key share', 'no key update', 'update'];

const stronger = (a: RowLock, b: RowLock) => (strengths.indexOf(a.strength) < strengths.indexOf(b.strength) ? b : a);

/** All that several units of work take, in the one order in which everybody takes it. */
export function mergedRequests(units: readonly (readonly LockRequest[])[]): LockRequest[] {
  const all = new Map<string, LockRequest>();
  for (const request of units.flat()) {
    const [known, more] = [all.get(request.name)?.rows, request.rows];
    const rows = known && more ? { lock: stronger(known.lock, more.lock), seen: new Map([...more.seen, ...known.seen]) } : more;
    all.set(request.name, { ...request, rows });
  }
  return [...all.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whether many may be taken by one select over their values, for units that have nothing to do with each other. */
export const isShareable = ({ own, mode }: LockRequest): boolean =>
  mode === 'shared' &&
  own !== undefined &&
  own.values.length > 0 &&
  own.values.every((value) => typeof value === 'string' || typeof value === 'number');

/**
 * What units of several accounts take together (`isShareable`), as selects: one for each text, over all its values. So the statement
 * has the same text however many values there are.
 */
export function sharedLocksSql(requests: readonly LockRequest[]): Sql[] {
  const groups = new Map<string, Sql[]>();
  for (const { own } of requests) {
    const group = groups.get(own!.sql);
    if (group) group.push(own!);
    else groups.set(own!.sql, [own!]);
  }
  return [...groups.values()].map((group) => {
    const { strings, values } = group[0]!;
    // With a blank, as no name that a text has of its own.
    const taken = strings.reduce((text, part, i) => `${text}"taken ".p${i - 1}${part}`);
    const columns = values.map((_value, i) => sql`${group.map((own) => String(own.values[i]))}::text[]`);
    const names = rawSql(values.map((_value, i) => `p${i}`).join(', '));
    return sql`select count((${rawSql(taken)})::text) from unnest(${joinSql(columns, ', ')}) "taken "(${names})`;
  });
}

/** The locks of a unit of work: each is taken with its next write, and kept to its end. */
export class Locks {
  readonly #waiting = new Map<string, LockRequest>();
  readonly #taken = new Set<string>();
  readonly #exclusive = new Set<string>();

  add(name: string, own: Sql, mode: LockMode): void {
    if (!this.#taken.has(name)) this.#waiting.set(name, { name, own, mode });
    if (mode === 'exclusive') this.#exclusive.add(name);
  }

  /** A row. Of two units that have seen it the first one is to be seen by the other: they belong into two statements. */
  addRow(lock: RowLock, account: string, id: string, version: string | null): void {
    if (version !== null) this.#exclusive.add(`${lock.table} ${id}`);
    if (this.#taken.has(`${lock.name} ${id} ${version}`)) return;
    const seen = this.#waiting.get(lock.name)?.rows?.seen ?? new Map<string, string | null>();
    // What was seen first holds: where it has changed since, the write is to fail.
    this.#waiting.set(lock.name, { name: lock.name, account, rows: { lock, seen: new Map([[id, version], ...seen]) } });
  }

  /** Those of which no other unit may take one in the same statement. */
  get exclusive(): ReadonlySet<string> {
    return this.#exclusive;
  }

  /** Those that no write has taken yet. Rows are locked for good unless all of them stay, as far as `stays` knows. */
  take(stays: (table: string, id: string) => boolean): LockRequest[] {
    const waiting = mergedRequests([[...this.#waiting.values()]]);
    for (const request of waiting) {
      const { name, rows } = request;
      if (!rows) this.#taken.add(name);
      for (const [id, version] of rows?.seen ?? []) this.#taken.add(`${name} ${id} ${version}`);
      if (rows?.lock.strength === 'update' && [...rows.seen.keys()].every((id) => stays(rows.lock.table, id))) {
        request.rows = { ...rows, lock: { ...rows.lock, strength: 'no key update' } };
      }
    }
    this.#waiting.clear();
    return waiting;
  }
}
