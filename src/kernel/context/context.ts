import { check, denied, found, taken } from '../base/errors.js';
import type { Printed } from '../base/jsonText.js';
import { defined, withChanges } from '../base/objects.js';
import type { AccountInfo, Actor, Cause, Principal } from '../base/principal.js';
import { globalModels, isCaused, isStamped, type Models, newRow, type ScopedModels, scopedModels } from '../database/accountScope.js';
import type { RowOf, Shape } from '../database/kinds.js';
import type { ModelName, Only, Stamps, Values } from '../database/models.js';
import { type Sql, sql, tableName } from '../database/sql.js';
import type { Bound, Statement } from '../database/statement.js';
import { type Change, domainEventsOf } from '../events/changes.js';
import { followFeed } from '../events/readers.js';
import { type Begin, type LockMode, StaleReads, type UnitKind, UnitOfWork } from '../writes/unitOfWork.js';
import type { AppOf, RequestInfo } from './app.js';
import { EventRecorder } from './eventRecorder.js';
import { idIsFree } from './freeIds.js';
import type { JobOptions } from './jobQueue.js';
import { lockByName, shareByName } from './nameLocks.js';
import { Reader } from './reader.js';
import type * as registry from './registry.js';
import { type Given, loaderToChange, type Params, readToChange, type ToChange, validId } from './rows.js';

export type { AccountInfo, Principal } from '../base/principal.js';
export { inLog, type RequestInfo } from './app.js';
export { type Brought, forChangeAsRead, noteRead, readOrReuse, requireVersion, type ToChange, type Version, validId } from './rows.js';

/** What lives as long as the server. */
export type App = AppOf<Context>;
export type AccountSweep = registry.AccountSweepOf<Context>;
export type Reaction = registry.ReactionOf<Context>;
export type DueWork = registry.DueWorkOf<Context>;
export type FeedReader = registry.FeedReaderOf<Context>;
export type NodeSource = registry.NodeSourceOf<Context>;
export type DeclaredEvent = registry.DeclaredEventOf<Context>;
// biome-ignore lint/suspicious/noExplicitAny: each queue has data of its own, which its module wrote and reads
export type JobHandler<Data = any> = registry.JobHandlerOf<Context, Data>;

/** The first argument of everything: who calls, on which account, in which transaction. */
export class Context {
  #db?: ScopedModels;
  #global?: Models;
  readonly #recorder = new EventRecorder();
  readonly #reader: Reader;
  /** What `perContext` keeps. */
  readonly belongings = new Map<symbol, unknown>();

  constructor(
    readonly app: App,
    readonly request: RequestInfo,
    readonly principal: Principal | null,
    /** The operation's unit of work; none where nothing is changed. */
    readonly unit?: UnitOfWork,
  ) {
    this.#reader = new Reader(app, unit, request.reads, principal?.account.id);
  }

  readonly #connect = () => this.#reader.connect();

  /** A context in this unit of work for somebody who becomes a caller by it, as who registers or accepts an invitation does. */
  as(principal: Principal): Context {
    return new Context(this.app, this.request, principal, this.unit);
  }

  /** A context in this unit of work for a run, the last of these: what it does is the actor's, and its events name all of them. */
  within(behind: Cause | readonly Cause[], actor: Actor): Context {
    const causes = [...(this.request.causes ?? []), ...[behind].flat()];
    return new Context(this.app, { ...this.request, causes }, { ...this.caller, actor, userName: actor.name }, this.unit);
  }

  get account(): AccountInfo | undefined {
    return this.principal?.account;
  }

  /** The caller; only where the operation's mark says that there is one. */
  get caller(): Principal {
    if (!this.principal) throw new Error('This operation is public and has no caller');
    return this.principal;
  }

  /** The person who calls. Throws 403 where nobody does: a form, an inbound message or a sequence is at work. */
  get person(): string {
    const { userId } = this.caller;
    if (!userId) throw denied('Only a person may do this');
    return userId;
  }

  /** Prisma, held to the caller's account; inside an operation it is the operation's transaction. */
  get db(): ScopedModels {
    this.#db ??= scopedModels(this.#connect, this.caller.account.id, this.app.clock);
    return this.#db;
  }

  /** Prisma across accounts: only for finding out who is calling, and where nobody is known to (checked by the architecture test). */
  get global(): Models {
    this.#global ??= globalModels(this.#connect, this.app.clock);
    return this.#global;
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

  /** A read that may take long, as a count by a filter may: few at a time in this process, one of an account; in a transaction at once. */
  longRead<T>(work: () => Promise<T>): Promise<T> {
    return this.unit ? work() : this.app.longReads.run(this.caller.account.id, work);
  }

  /** The rows of a select that was composed of conditions; `row` says what its columns are. */
  async select<S extends Shape>(row: S, rows: Sql): Promise<RowOf<S>[]> {
    return this.#spent(await this.#reader.select(row, rows));
  }

  /** Rows that are to be changed, by their ids: locked, or only looked at where an optimistic write makes sure that they are the same. */
  toChange<Row extends object>(rows: ToChange<Row>, ids: readonly string[]): Promise<Row[]> {
    return readToChange(this, rows, ids);
  }

  /** One row that is to be changed, or 404; those asked for at the same moment are read together. */
  async forChange<Row extends object>(rows: ToChange<Row>, id: string): Promise<Row> {
    return found(await loaderToChange(this, rows).fresh(validId(id, rows.what)), rows.what);
  }

  /** From here on rows that are to be changed are locked as they are read: for what does many things with them. */
  lockRows(): void {
    this.#changing.isOptimistic = false;
  }

  /** Shares the account's lock of this name, from here to the end; who changes what it stands for takes it alone. */
  async shareName(name: string): Promise<void> {
    await this.rows(shareByName, { name });
  }

  /** Takes the account's lock of this name alone, from here to the end: who takes or shares the same one waits. */
  async lockName(name: string): Promise<void> {
    await this.rows(lockByName, { name });
  }

  /** Has the next write, if any, hold rows that were read without a lock by a select that locks them; tried again if they are gone. */
  requireRow(name: string, rows: Sql, mode?: LockMode): void {
    this.unit?.lock(name, sql`still_there((select count(*) from (${rows}) held))`, mode);
  }

  /** Has the next write make sure that no record has this id, which a client chose for a new one: else 409 naming `id`. */
  requireFree(id: string): void {
    check(this.#changing.choose(id), () => taken('id'));
    this.#changing.lock(`id ${id}`, idIsFree(this.app.registry.nodes, this.caller.account.id, id));
  }

  /** Runs a composed SELECT that returns one text column, and answers its one text. */
  text(query: Bound): Promise<string> {
    return this.#reader.text(query);
  }

  /** As `text`, with a prepared plan: for index look-ups of few rows. */
  planned(query: Bound): Promise<string> {
    return this.#reader.planned(query);
  }

  /** As `text`, for look-ups of few rows by their keys: outside a transaction, those of one text may be sent as one. */
  lookup(query: Bound): Promise<string> {
    return this.#reader.lookup(query);
  }

  /** Adds a row to what this unit of work writes, before the next read or at the end; answers it whole, as it will be kept. */
  insert<M extends ModelName, Row extends Values<M>>(model: M, row: Row & Only<M, Row>): Row & Stamps {
    const { id } = row as { id?: string | null };
    if (id && this.app.registry.nodes.has(model) && !this.#changing.isOwn(id)) this.requireFree(id);
    const whole = this.#newRow(model, row as Record<string, unknown>);
    this.#changing.insert(tableName(model), whole);
    return whole as Row & Stamps;
  }

  /** Changes a row that this unit of work has read, and answers it as it will be kept. `undefined` leaves a field as it is. */
  update<M extends ModelName, Row extends { id: string }, C extends Values<M>>(
    model: M,
    row: Row,
    changes: C & Only<M, C>,
  ): Row & Given<C> {
    const values = { ...(isStamped(model) && { updatedAt: this.now() }), ...defined(changes) };
    this.#changing.update(tableName(model), { ...values, accountId: this.caller.account.id, id: row.id });
    return withChanges(row, values) as unknown as Row & Given<C>;
  }

  /** Sets columns of a row that nobody has to read first (times, counters); written with the next statement. */
  touch<M extends ModelName, C extends Values<M>>(model: M, id: string, figures: C & Only<M, C>): void {
    const values = { ...(isStamped(model) && { updatedAt: this.now() }), ...figures };
    this.#changing.touch(tableName(model), { ...values, accountId: this.caller.account.id, id });
  }

  /** The rows of a model that this unit of work has yet to insert. */
  waiting(model: ModelName): Record<string, unknown>[] {
    return this.unit?.waiting(tableName(model)) ?? [];
  }

  get #changing(): UnitOfWork {
    if (!this.unit) throw new Error('Writes need a unit of work: use ctx.transaction');
    return this.unit;
  }

  /** Tells of a change: its events, its entry in the log and the other modules' reactions, in this unit of work. */
  async emit(change: Change): Promise<void> {
    this.#changing.hasEvents = true;
    this.#recorder.record(this.#eventContext, change, (model, row) =>
      this.#changing.insertLast(tableName(model), this.#newRow(model, row)),
    );
    for (const event of domainEventsOf(change))
      for (const react of this.app.registry.reactions.get(event.name) ?? []) await react(this, event);
  }

  /**
   * Has the events and log entries so far wait in the database instead of in memory; those of all are written at the end. With `above`,
   * only where more than so many characters wait to be written.
   */
  async spillEvents({ above }: { above?: number } = {}): Promise<void> {
    if (above !== undefined && this.#changing.waitingSize <= above) return;
    this.#recorder.forget();
    await this.#changing.spill();
  }

  /** A record as its last event of this unit of work has it, which is as REST shows it; undefined where none was told. */
  emittedRecord(type: string, id: string): Printed | undefined {
    return this.#recorder.recorded(type, id);
  }

  get #eventContext() {
    const { registry, clock } = this.app;
    return { schema: registry.schema(), events: registry.events, caller: this.caller, request: this.request, clock, shownIn: this };
  }

  #newRow(model: string, row: Record<string, unknown>): Record<string, unknown> {
    const { causes } = this.request;
    return newRow(model, causes && isCaused(model) ? { causes, ...row } : row, this.caller.account.id, this.app.clock);
  }

  /** Leaves the module's job of this name to be done later, for the caller; part of this transaction: a rollback takes it back. */
  async enqueue(queue: string, data: object, options?: JobOptions): Promise<void> {
    if (!this.app.registry.jobs.has(queue)) throw new Error(`No module does jobs of the name ${queue}`);
    const client = await this.#connect();
    const { account, userId, actor } = this.caller;
    await this.app.jobs.add(client, { queue, accountId: account.id, userId, actor, data }, options);
    this.afterCommit(queue, () => this.app.jobs.wake(queue));
  }

  /** Wakes those who work on the rows of this kind once this is committed: some are due. */
  wake(due: string): void {
    if (!this.app.registry.due.has(due)) throw new Error(`No module works on due rows of the name ${due}`);
    this.afterCommit(due, () => this.app.jobs.wake(due));
  }

  /** Does something once this is committed, by each name once: what others are told to look at is there then. */
  afterCommit(name: string, work: () => void): void {
    if (this.unit) this.unit.afterwards.set(name, work);
    else work();
  }

  /** From this write on, the account's events are read for a module's reader: within the write that has it want some. */
  async follow(reader: string): Promise<void> {
    if (!this.app.registry.readers.has(reader)) throw new Error(`No module reads the feed under the name ${reader}`);
    await this.rows(followFeed, { name: reader });
  }

  /**
   * Does something all or not at all, the session that it opened or ended included, with loaders of its own; what is emitted inside is
   * written last. An optimistic one is tried again when another writer came between.
   */
  async transaction<T>(work: (inside: Context) => Promise<T>, kind?: UnitKind): Promise<T> {
    const { account } = this;
    const inTurn: Begin = (begin) => (account ? this.app.shares.transactions.run(account.id, begin) : begin());
    const unit = new UnitOfWork(this.app, inTurn, kind);
    const inside = new Context(this.app, this.request, this.principal, unit);
    const { session } = this.request;
    try {
      const done = await work(inside).catch((error: unknown) => Promise.reject(unit.readsMayBeStale ? new StaleReads(error) : error));
      await unit.commit();
      if (unit.hasEvents) this.app.eventsWritten(this.principal?.account.id);
      for (const tell of unit.afterwards.values()) tell();
      return done;
    } catch (error) {
      await unit.abandon();
      this.request.session = session;
      throw error;
    }
  }
}
