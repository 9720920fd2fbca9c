import { found, notFound } from '../base/errors.js';
import type { Printed } from '../base/jsonText.js';
import type { AccountInfo, Principal } from '../base/principal.js';
import { globalModels, isStamped, type Models, newRow, type ScopedModels, scopedModels } from '../database/accountScope.js';
import type { RowOf, Shape } from '../database/kinds.js';
import type { ModelName, Only, Stamps, Values } from '../database/models.js';
import { rawSql, type Sql, sql, tableName } from '../database/sql.js';
import type { Statement } from '../database/statement.js';
import { type Change, entryOf, eventsOfChange, factsOf, printRecord, type Source } from '../events/facts.js';
import { isUuid } from '../model/checks.js';
import { UnitOfWork } from '../writes/unitOfWork.js';
import type { AppOf, RequestInfo } from './app.js';
import type { FilterableOf, FilterFieldOf } from './filterable.js';
import type { JobOptions } from './jobQueue.js';
import { inOrder, Loader, type Loaders, loadersFor } from './loaders.js';
import { Reader } from './reader.js';
import type { BatchOf, JobHandlerOf, NodeSourceOf, ReactionOf } from './registry.js';

export type { AccountInfo, Principal } from '../base/principal.js';
export type { RequestInfo } from './app.js';

/** What lives as long as the server. */
export type App = AppOf<Context>;
export type Reaction = ReactionOf<Context>;
export type Filterable = FilterableOf<Context>;
export type FilterField = FilterFieldOf<Context>;
export type Batch<V = unknown> = BatchOf<Context, V>;
export type NodeSource = NodeSourceOf<Context>;
// biome-ignore lint/suspicious/noExplicitAny: each queue has data of its own, which its module wrote and reads
export type JobHandler<Data = any> = JobHandlerOf<Context, Data>;

/** How rows of a table are read by their ids to be changed. */
export interface ToChange<Row extends object> {
  table: string;
  key: string;
  /** Reads them, with the version that they are of. */
  look: Statement<Row & { id: string; xmin: string }, { ids: readonly string[] }>;
  /** Locks them, before they are read: what belongs to them is then not of before. */
  lock: Statement<{ id: string }, { ids: readonly string[] }>;
}

/** The members that are given, as they will be kept. */
type Given<C> = { [N in keyof C as undefined extends C[N] ? never : N]: C[N] };

/** The parameters of a statement, left out where it takes none. */
type Params<P> = keyof P extends never ? [] : [params: P];

/** The first argument of everything: who calls, on which account, in which transaction. */
export class Context {
  #db?: ScopedModels;
  #global?: Models;
  #load?: Loaders;
  #emitted = false;
  /** The records that something was told of, as the last event of each has it, by type and id. */
  readonly #lastEvents = new Map<string, Printed>();
  /** Whether the door hands records on as PostgreSQL prints them: a REST row that shows the record and nothing else. */
  takesPrint = false;
  readonly #reader: Reader;
  readonly #changes = new Map<object, Loader<unknown>>();
  /** The queues that this unit of work put jobs into. */
  readonly #queues = new Set<string>();

  constructor(
    readonly app: App,
    readonly request: RequestInfo,
    readonly principal: Principal | null,
    /** The operation's unit of work; none where nothing is changed. */
    private readonly unit?: UnitOfWork,
  ) {
    this.#reader = new Reader(app, unit);
  }

  readonly #connect = () => this.unit?.connection() ?? this.app.database.prisma;

  get account(): AccountInfo | undefined {
    return this.principal?.account;
  }

  /** The caller; only where the operation's mark says that there is one. */
  get caller(): Principal {
    if (!this.principal) throw new Error('This operation is public: nobody is calling');
    return this.principal;
  }

  /** Prisma, held to the caller's account; inside an operation it is the operation's transaction. */
  get db(): ScopedModels {
    this.#db ??= scopedModels(this.#connect, this.caller.account.id, this.app.clock);
    return this.#db;
  }

  /** Prisma across accounts: only for finding out who is calling (checked by the architecture test). */
  get global(): Models {
    this.#global ??= globalModels(this.#connect, this.app.clock);
    return this.#global;
  }

  get load(): Loaders {
    this.#load ??= loadersFor(this, this.app.registry.loaders);
    return this.#load;
  }

  now(): Date {
    return this.app.clock.now();
  }

  /** The unique key of a record of the account; a malformed id is a record that does not exist. */
  at(id: string, what = 'Record') {
    return { key: { accountId: this.caller.account.id, id: validId(id, what) } };
  }

  /** The rows that a statement answers for the caller's account. */
  async rows<Row extends object, P>(statement: Statement<Row, P>, ...[params]: Params<P>): Promise<Row[]> {
    return this.#spent(await this.#reader.rows(statement, this.caller.account.id, (params ?? {}) as P));
  }

  /** Every row that enters by a statement is spent of the request's budget. */
  #spent<Row>(rows: Row[]): Row[] {
    this.request.budget?.read(rows);
    return rows;
  }

  /**
   * A read that may take long, such as the count of a filter over a whole table: a few at a time in this process and one of an
   * account, so that those who ask for many hold up nobody else. Within a transaction it is done at once.
   */
  longRead<T>(work: () => Promise<T>): Promise<T> {
    return this.unit ? work() : this.app.longReads.run(this.caller.account.id, work);
  }

  /** The rows of a select that was composed of conditions; `row` says what its columns are. */
  async select<S extends Shape>(row: S, rows: Sql): Promise<RowOf<S>[]> {
    return this.#spent(await this.#reader.select(row, rows));
  }

  /**
   * Rows that are to be changed, by their ids. They are locked, or in an optimistic unit of work only looked at: then its write
   * makes sure that they are as they were seen, so that it needs no transaction.
   */
  async toChange<Row extends object>({ table, key, look, lock }: ToChange<Row>, ids: readonly string[]): Promise<Row[]> {
    if (!this.unit?.isOptimistic || this.unit.hasBegun) {
      const held = await this.rows(lock, { ids });
      return held.length > 0 ? this.rows(look, { ids: held.map(({ id }) => id) }) : [];
    }
    const account = this.caller.account.id;
    const seen = await this.rows(look, { ids });
    for (const { id, xmin } of seen) {
      const same = sql`account_id = ${account}::uuid and ${rawSql(key)} = ${id}::uuid and xmin::text = ${xmin}`;
      this.requireRow(`${table} ${id} ${xmin}`, sql`select 1 from ${rawSql(table)} where ${same} for update`);
    }
    return seen;
  }

  /** One row that is to be changed, or 404; those asked for at the same moment are read together. */
  async forChange<Row extends object>(rows: ToChange<Row>, id: string, what: string): Promise<Row> {
    const loader = this.#changes.get(rows) ?? new Loader((ids) => this.toChange(rows, ids).then((found) => inOrder(ids, found, idOf)));
    this.#changes.set(rows, loader);
    return found((await loader.fresh(validId(id, what))) as Row | null, what);
  }

  /** From here on rows that are to be changed are locked as they are read: for what does many things with them. */
  lockRows(): void {
    this.#changing.isOptimistic = false;
  }

  /** Shares a lock of the account from the next write to the end; who changes what it stands for takes it alone. */
  share(name: string): void {
    this.#changing.lock(name, sql`pg_advisory_xact_lock_shared(hashtextextended(${this.caller.account.id} || ${name}, 0))`);
  }

  /**
   * Has the next write hold rows that it depends on, which were read without a lock: a select that locks them. When they are
   * gone by then, the operation is tried again and finds it out.
   */
  requireRow(name: string, rows: Sql): void {
    this.#changing.lock(name, sql`still_there((select count(*) from (${rows}) held))`);
  }

  /** The one text that a composed statement answers. */
  text(query: Sql): Promise<string> {
    return this.#reader.text(query);
  }

  /** The same of one that reads few rows from an index whatever its values are: it is planned once. */
  planned(query: Sql): Promise<string> {
    return this.#reader.planned(query);
  }

  /** The same of one that finds few rows by their keys: outside of a transaction, those of many callers go together. */
  lookup(query: Sql): Promise<string> {
    return this.#reader.lookup(query);
  }

  /**
   * Adds a row to what this unit of work writes, and answers it as it will be kept: whole, so that nothing has to be read
   * back. It is in the database before the next read, or at the end.
   */
  insert<M extends ModelName, Row extends Values<M>>(model: M, row: Row & Only<M, Row>): Row & Stamps {
    const name = model.charAt(0).toLowerCase() + model.slice(1);
    const whole = newRow(name, row as Record<string, unknown>, this.caller.account.id, this.app.clock);
    this.#changing.insert(tableName(model), whole);
    return whole as Row & Stamps;
  }

  /** Changes a row that this unit of work has read, and answers it as it will be kept. `undefined` leaves a field as it is. */
  update<M extends ModelName, Row extends { id: string }, C extends Values<M>>(
    model: M,
    row: Row,
    changes: C & Only<M, C>,
  ): Row & Given<C> {
    const { id } = row;
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const values = { ...(isStamped(model.charAt(0).toLowerCase() + model.slice(1)) && { updatedAt: this.now() }), ...given };
    this.#changing.update(tableName(model), { ...values, accountId: this.caller.account.id, id });
    return { ...row, ...values } as Row & Given<C>;
  }

  get #changing(): UnitOfWork {
    if (!this.unit) throw new Error('Nothing is changed outside a unit of work');
    return this.unit;
  }

  /** Tells of a change: its events, its entry in the log and the other modules' reactions, in this unit of work. */
  async emit(change: Change): Promise<void> {
    this.#emitted = true;
    const { type, data, events } = eventsOfChange(this.#source, change);
    this.#lastEvents.set(`${type} ${change.record.id}`, data);
    for (const event of events) this.#insertLast('OutboxEvent', event);
    if (change.logged !== false) this.#insertLast('Activity', entryOf(this.#source, change));
    const { reactions } = this.app.registry;
    for (const fact of factsOf(change)) for (const reaction of reactions.get(fact.name) ?? []) await reaction(this, fact);
  }

  /** A record of this unit of work as REST shows it: as its last event has it, else as it is. */
  print(type: string, record: { id: string }): Printed {
    return this.#lastEvents.get(`${type} ${record.id}`) ?? printRecord(this.app.registry.schema(), type, record);
  }

  get #source(): Source {
    const { registry, clock } = this.app;
    return { schema: registry.schema(), events: registry.events, caller: this.caller, request: this.request, newId: () => clock.id() };
  }

  #insertLast(model: Capitalize<string>, row: Record<string, unknown>): void {
    const name = model.charAt(0).toLowerCase() + model.slice(1);
    this.#changing.insertLast(tableName(model), newRow(name, row, this.caller.account.id, this.app.clock));
  }

  /**
   * Leaves something to be done later, by the module's job of this name on behalf of the caller. It is part of this
   * transaction: a rollback takes it back.
   */
  async enqueue(queue: string, data: object, options?: JobOptions): Promise<void> {
    if (!this.app.registry.jobs.has(queue)) throw new Error(`No module does jobs of the name ${queue}`);
    const client = await this.#connect();
    await this.app.jobs.add(client, { queue, accountId: this.caller.account.id, userId: this.caller.userId, data }, options);
    if (this.unit) this.#queues.add(queue);
    else this.app.jobs.wake(queue);
  }

  /** Wakes those who work on what this unit of work committed. */
  #committed(): void {
    if (this.#emitted) this.app.eventsWritten();
    for (const queue of this.#queues) this.app.jobs.wake(queue);
  }

  /**
   * Does something all or not at all, with loaders of its own; what is emitted inside is written last. An optimistic one is tried
   * again when another writer came between.
   */
  async transaction<T>(work: (inside: Context) => Promise<T>, isOptimistic = false): Promise<T> {
    const unit = new UnitOfWork(this.app.database, this.app.commits, isOptimistic);
    const inside = new Context(this.app, this.request, this.principal, unit);
    try {
      const done = await work(inside);
      await unit.commit();
      inside.#committed();
      return done;
    } catch (error) {
      await unit.abandon();
      throw error;
    }
  }
}

const idOf = (row: object) => (row as { id: string }).id;

/** The id, or 404 when it cannot be one. */
export function validId(id: string, what: string): string {
  if (!isUuid(id)) throw notFound(what);
  return id.toLowerCase();
}
