import { notFound } from '../base/errors.js';
import type { Principal } from '../base/principal.js';
import type { Sql } from '../database/sql.js';
import type { Statement } from '../database/statement.js';
import { isUuid } from '../model/checks.js';
import type { UnitOfWork } from '../writes/unitOfWork.js';
import { inOrder, Loader } from './loaders.js';
import { type Owner, perContext } from './perContext.js';

/** A row as it was seen: its version is what `xmin` says. */
export interface Version {
  id: string;
  xmin: string;
}

/** How rows of a table are read by their ids to be changed. */
export interface ToChange<Row extends object> {
  table: string;
  /** How messages name one. */
  what: string;
  key: string;
  /** The texts of what is read of them, which name every table that it is of. */
  reads: string;
  /** Reads them, with the version that they are of. */
  look: Statement<Row & Version, { ids: readonly string[] }>;
  /** Locks them, before they are read: what belongs to them is then not of before. */
  lock: Statement<{ id: string }, { ids: readonly string[] }>;
}

/** How rows are read to be changed that another statement may bring along, as a JSON value of its own row. */
export interface Brought<Row extends object> extends ToChange<Row> {
  /** One of them, alias `t`, with its version, as a JSON value of that statement, which `look` reads. */
  whole: Sql;
}

/** An operation that is to change rows. */
interface Changing {
  readonly caller: Principal;
  readonly unit?: UnitOfWork;
  rows<Row extends object>(statement: Statement<Row, { ids: readonly string[] }>, params: { ids: readonly string[] }): Promise<Row[]>;
  forChange<Row extends object>(rows: ToChange<Row>, id: string): Promise<Row>;
}

/**
 * Whether an operation may read rows that it depends on without locking them: its write must then check them (`requireRow`,
 * `requireVersion`). False outside a unit of work. @param reads a text that names every table that is read
 */
export const canReadUnlocked = ({ unit }: Pick<Changing, 'unit'>, reads: string): boolean => unit?.canReadUnlocked(reads) ?? false;

/**
 * Whether rows are locked before what depends on them is read: in what is not tried again where another writer came between, and in
 * what may change very many rows, which would be too much to do again.
 */
export const isPessimistic = ({ unit }: Pick<Changing, 'unit'>): boolean => !unit?.isOptimistic || unit.mayTakeLong;

/** Rows that are to be changed, by their ids: locked, or looked at and required to be the same when they are written. */
export async function readToChange<Row extends object>(ctx: Changing, rows: ToChange<Row>, ids: readonly string[]): Promise<Row[]> {
  const { unit } = ctx;
  if (!unit?.canReadUnlocked(rows.reads)) {
    const held = await ctx.rows(rows.lock, { ids });
    const read = held.length > 0 ? await ctx.rows(rows.look, { ids: held.map(({ id }) => id) }) : [];
    unit?.reads.add(read);
    return read;
  }
  const known = ids.flatMap((id) => (unit.seen.get(keyOf(rows, id)) as Row & Version) ?? []);
  const others = known.length === 0 ? ids : ids.filter((id) => !unit.seen.has(keyOf(rows, id)));
  const seen = others.length > 0 ? [...known, ...(await ctx.rows(rows.look, { ids: others }))] : known;
  unit.reads.add(seen);
  return seen.map((row) => {
    requireVersion(ctx, rows, row);
    return { ...row, ...unit.figuresOf(rows.table, row.id) };
  });
}

const loadersToChange = perContext(() => new Map<object, Loader<unknown>>());

/** Reads rows to change them: those asked for at the same moment together. */
export function loaderToChange<Row extends object>(ctx: Changing & Owner, rows: ToChange<Row>): Loader<Row | null> {
  const loaders = loadersToChange(ctx);
  const readAll = async (ids: readonly string[]) =>
    inOrder(ids, (await readToChange(ctx, rows, ids)) as (Row & { id: string })[], ({ id }) => id);
  const loader = loaders.get(rows) ?? new Loader(readAll);
  loaders.set(rows, loader);
  return loader as Loader<Row | null>;
}

const keyOf = ({ look }: { look: { name: string } }, id: string) => `${look.name} ${id}`;

/**
 * Notes a row that was read with its version: an optimistic unit of work does not read it again to change it, since its write checks
 * the version.
 */
export function noteRead<Row extends object>({ unit }: Pick<Changing, 'unit'>, rows: ToChange<Row>, row: Row & Version): void {
  unit?.seen.set(keyOf(rows, row.id), row);
}

/** Reads a row without a lock, or null, and notes it: an optimistic unit of work does not read it again to change it. */
async function readUnlocked<Row extends object>(ctx: Changing, rows: ToChange<Row>, id: string): Promise<Row | null> {
  const [row] = await ctx.rows(rows.look, { ids: [id] });
  if (!row) return null;
  noteRead(ctx, rows, row);
  const { xmin: _version, ...shown } = row;
  return { ...shown, ...ctx.unit?.figuresOf(rows.table, id) } as Row;
}

/**
 * A row that this unit of work may change next, or null: read without a lock and noted (`noteRead`), else by `read`, where a lock or what
 * the unit has written matters.
 */
export const readOrReuse = <Row extends object>(ctx: Changing, rows: ToChange<Row>, id: string, read: () => Promise<Row | null>) =>
  canReadUnlocked(ctx, rows.reads) ? readUnlocked(ctx, rows, id) : read();

/** A row to be changed that was read before this unit of work began: an optimistic one goes by what was read. */
export function forChangeAsRead<Row extends object>(ctx: Changing, rows: ToChange<Row>, seen: Row & Version): Promise<Row> {
  noteRead(ctx, rows, seen);
  return ctx.forChange(rows, seen.id);
}

/** Has the next write lock a row and check that it still has the version that was read; else the operation is tried again. */
export function requireVersion(ctx: Changing, { table, key }: ToChange<object>, { id, xmin }: Version): void {
  ctx.unit?.lockRow({ name: `${table} seen`, table, key, strength: 'update' }, ctx.caller.account.id, id, xmin);
}

/** The members that are given, as they will be kept. */
export type Given<C> = { [N in keyof C as undefined extends C[N] ? never : N]: C[N] };

/** The parameters of a statement, left out where it takes none. */
export type Params<P> = keyof P extends never ? [] : [params: P];

/** What a client gives as an id, as ids are kept. */
export const idOf = (given: unknown): string => String(given).toLowerCase();

/** The id, or 404 when it cannot be one. */
export function validId(id: string, what: string): string {
  if (!isUuid(id)) throw notFound(what);
  return idOf(id);
}

/** Throws 404 where a path names another parent than the record has; it may name none. What is no id is no record's. */
export function checkParent(what: string, own: string, named: string | null | undefined): void {
  if (named && idOf(named) !== own) throw notFound(what);
}

/** What can be an id of what a client gives, each once. */
export const idsAmong = (given: readonly unknown[]): string[] => [...new Set(given.map(idOf))].filter(isUuid);
