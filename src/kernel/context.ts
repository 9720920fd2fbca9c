import type { Logger } from 'pino';
import type { Role, Tier } from './access.js';
import type { Channel } from './channel.js';
import type { Clock } from './clock.js';
import type { Config } from './config.js';
import type { Database } from './database/index.js';
import { type AppError, notFound } from './errors.js';
import type { JobOptions, Jobs } from './jobs.js';
import type { Limiter } from './limits.js';
import { type Loaders, loadersFor } from './loaders.js';
import type { Registry } from './module.js';
import { type Fact, Outbox } from './outbox.js';
import type { Statement } from './sql.js';
import { globalModels, type Models, type ScopedModels, scopedModels, type Transaction } from './tenancy.js';
import { isUuid } from './values.js';
import type { Vendors } from './vendors.js';

/** What the server knows of the caller's account (workspace) without asking again. */
export interface AccountInfo {
  id: string;
  name: string;
  plan: string;
  timezone: string;
  defaultCountry: string;
  trialEndsAt: Date | null;
}

/** Who is calling. */
export interface Principal {
  kind: 'session' | 'key' | 'job';
  /** The session's, the key's or the job's id. */
  id: string;
  userId: string;
  userName: string;
  role: Role;
  tier: Tier;
  /** The domains a key may touch; null means all. */
  scopes: string[] | null;
  /** A key's requests per minute. */
  rateLimit?: number;
  account: AccountInfo;
}

/** What lives as long as the server. */
export interface App {
  config: Config & { secretKey: string };
  clock: Clock;
  log: Logger;
  database: Database;
  registry: Registry;
  limiter: Limiter;
  vendors: Vendors;
  channel: Channel;
  jobs: Jobs;
  /** Called after a commit that wrote events: they wait for their places in the feed. */
  eventsWritten(): void;
  /** Whether requests are taken: the migrations are done, and no stop has begun. */
  ready: boolean;
  stopping: boolean;
}

/** What a door tells of the request, and takes back for its response. */
export interface RequestInfo {
  id: string;
  ip: string;
  userAgent?: string;
  /** Why the credentials that came with the request were not taken, for operations that need some. */
  refusal?: AppError;
  /** The client's key for a safe retry, and whether a kept outcome answered it. */
  idempotencyKey?: string;
  replayed?: boolean;
  /** Set by an operation: a session to hand to the browser, or null to end it. */
  session?: { token: string; expiresAt: Date } | null;
}

/** The first argument of everything: who calls, on which account, in which transaction. */
export class Context {
  #db?: ScopedModels;
  #global?: Models;
  #load?: Loaders;
  #outbox?: Outbox;
  /** The queues that this transaction put jobs into. */
  readonly #queues = new Set<string>();

  constructor(
    readonly app: App,
    readonly request: RequestInfo,
    readonly principal: Principal | null,
    /** The operation's transaction, or the plain client. */
    private readonly connection: Transaction = app.database.prisma,
  ) {}

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
    this.#db ??= scopedModels(this.connection, this.caller.account.id, this.app.clock);
    return this.#db;
  }

  /** Prisma across accounts: only for finding out who is calling (checked by the architecture test). */
  get global(): Models {
    this.#global ??= globalModels(this.connection, this.app.clock);
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

  /** Runs a hand-written statement on the caller's account. */
  query<Row, Args extends unknown[]>(statement: Statement<Row, Args>, ...args: Args): Promise<Row[]> {
    return this.connection.$queryRaw<Row[]>(statement(this.caller.account.id, ...args));
  }

  /** Tells that something happened: an outbox row, an audit row and the other modules' reactions, in this transaction. */
  emit(fact: Fact): Promise<void> {
    this.#outbox ??= new Outbox(this);
    return this.#outbox.add(fact);
  }

  /**
   * Leaves something to be done later, by the module's job of this name on behalf of the caller. It is part of this
   * transaction: a rollback takes it back.
   */
  async enqueue(queue: string, data: object, options?: JobOptions): Promise<void> {
    await this.app.jobs.add(this.connection, { queue, accountId: this.caller.account.id, userId: this.caller.userId, data }, options);
    if (this.connection === this.app.database.prisma) this.app.jobs.wake(queue);
    else this.#queues.add(queue);
  }

  /** Writes what was emitted; the operation calls it last before it commits. */
  async flush(): Promise<void> {
    await this.#outbox?.flush();
  }

  /** Wakes those who work on what this transaction committed. */
  #committed(): void {
    if (this.#outbox?.wrote) this.app.eventsWritten();
    for (const queue of this.#queues) this.app.jobs.wake(queue);
  }

  /** The same request inside a transaction: its own client and its own loaders. */
  with(tx: Transaction): Context {
    return new Context(this.app, this.request, this.principal, tx);
  }

  /** A transaction of its own, for detached operations; what is emitted inside is written before it commits. */
  async transaction<T>(work: (inside: Context) => Promise<T>): Promise<T> {
    let context: Context | undefined;
    const result = await this.app.database.prisma.$transaction(async (tx) => {
      const inside = this.with(tx);
      context = inside;
      const done = await work(inside);
      await inside.flush();
      return done;
    });
    if (context) context.#committed();
    return result;
  }
}

/** The id, or 404 when it cannot be one. */
export function validId(id: string, what: string): string {
  if (!isUuid(id)) throw notFound(what);
  return id.toLowerCase();
}
