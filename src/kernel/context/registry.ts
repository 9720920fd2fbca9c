import type { GraphQLSchema } from 'graphql';
import type { AccessMark } from '../access/access.js';
import type { Actor } from '../base/principal.js';
import type { Shape } from '../database/kinds.js';
import type { Sql } from '../database/sql.js';
import type { Sweep } from '../database/sweep.js';
import type { TableRows } from '../database/tableRows.js';
import type { DomainEvent } from '../events/changes.js';
import type { ReadEvent } from '../events/readers.js';
import type { RecordEvents } from '../events/recordEvents.js';
import type { JobRun } from './jobQueue.js';

// These types are about the context `C` that is handed to what a module declares; context.ts names them for it.

/** What another module does when something happens, in the transaction of the change. */
export type ReactionOf<C> = (ctx: C, event: DomainEvent) => Promise<void>;

/**
 * What a module does later. It runs as the person who caused it, outside any transaction, and again when its process died
 * or it threw: what must not happen twice is fenced in the module's own rows.
 */
// biome-ignore lint/suspicious/noExplicitAny: each queue has data of its own, which its module wrote and reads
export type JobHandlerOf<C, Data = any> = (ctx: C, data: Data, run: JobRun) => Promise<void>;

/** Records that a field of a body may name by their ids. */
export interface Reference {
  /** The table of the records. One may be named if a read by its id finds it. */
  of: TableRows;
  /**
   * Whether what names one is changed when it goes: then what is written meanwhile waits, or is found. Who has one go locks it `for
   * update`, as `ctx.forChange` does.
   */
  held?: boolean;
}

/** A table, as its module declares it. */
export interface DeclaredTable {
  name: string;
  sorts: object;
}

/** A column of values that `seal` closed: under another SECRET_KEY they are sealed anew. What lives for a day at most needs none. */
export interface SealedColumn {
  table: string;
  column: string;
  /** Whether the table has no account. */
  isGlobal?: boolean;
  purpose: string;
  /** Where the value of a row is kept, as it was sealed. */
  place(id: string, account: string): string;
}

/** Something that needs a record: what it is, and how it is called. */
export interface Use {
  type: string;
  id: string;
  name: string;
}

/** Answers what of a module's records needs a record of another. */
export type UsesOf<C> = (ctx: C, id: string) => Promise<Use[]>;

/** Locks rows of a module that are taken before a record of another, which is about to go. */
export type LocksBeforeOf<C> = (ctx: C, id: string) => Promise<void>;

/** What is done, and told, in each account where something has come due. */
export interface AccountSweepOf<C> {
  /** A statement that answers the `id` of each such account at a moment, and what else `isDue` asks for, all of it as text. */
  accounts(now: Sql): Sql;
  /** Of an account that was answered, whether something has come due: for what the database does not know as we do, as the time of day. */
  isDue?(account: Readonly<Record<string, string>>, now: Date): boolean;
  /** Does some of it as the account, and answers whether there may be more. */
  work(ctx: C): Promise<boolean>;
}

/** A place of this process in which a row is worked on. */
export interface WorkerSlot {
  /** Whether it may go on to a row that is taken with the settling of this one. */
  mayGoOn(): boolean;
  /** Goes on to that row once this one is done. */
  goOn(next: DueRow): void;
}

/** A row that has come due, as it was taken. */
export interface DueRow {
  id: string;
  /** The number of this attempt: what is settled under another one is not ours any more. */
  attempt: number;
  /** What its `taking` answers besides, or its row that `brings` says. */
  more?: unknown;
  place?: WorkerSlot;
}

/**
 * Rows that something is done about once their time has come by the server's clock. Their table has `due_at` (null where nothing
 * is due), `leased_until` and `attempt`; where it has `causes`, the work is told with them. A row is worked on by one process at a
 * time, outside any transaction, and again when its process died: so what is done settles the row only while the attempt is the one
 * that it was told.
 */
export interface DueWorkOf<C> {
  table: string;
  /** Whose doing it is in the log. */
  actor?: Actor;
  /** Rows worked on at once in a process, 16 by default. */
  concurrency?: number;
  /**
   * How rows are taken where turns between accounts are not all: a select of `accountId`, `id` and `attempt` from a function that
   * takes them, and of what the work needs of them as `more`. `$1` is the moment, `$2` how many at most, `$3` the seconds of the lease.
   */
  taking?: string;
  /** What the work needs of a row, alias `t`, as it is once it is taken: one JSON value, which the work is told as `more`. */
  brings?: Sql;
  /** The column by which its index of what is due is divided within an account, where it is: what waits is counted along that index. */
  sources?: string;
  /** Whether what waits may be taken only once something else has ended, such as another call of the same address. */
  hasTurns?: boolean;
  /**
   * Whether a row in the middle of its work waits for the end of its lease where the process stops, instead of being taken by another
   * at once: where what was begun may still be done, and once more is once too often.
   */
  keepsLease?: boolean;
  /**
   * Whether it does no harm if a row was taken and nobody knows of it any more, since the machine of the database failed: so where its work
   * does nothing outside the database that must not be done twice. Taking waits for no disk then.
   */
  mayForgetTaking?: boolean;
  /** Seconds at most until a row is worked on again after a fault of ours, where its attempts count what is planned as well. */
  pause?: number;
  work(ctx: C, row: DueRow): Promise<void>;
  /**
   * Settles a row in the middle of whose work one process after the other has ended; by default it is left alone for some hours, and tried
   * again.
   */
  giveUp?(ctx: C, row: DueRow): Promise<void>;
}

/**
 * What a module makes of the feed of an account: rows that are worked on later, such as deliveries and runs. Each event is read
 * once and in its place, since the reader's position moves in the transaction of what was made of it. An account is read for
 * from `ctx.follow` on.
 */
export interface FeedReaderOf<C> {
  /** Whose doing it is in the log. */
  actor?: Actor;
  /** A select of the names of the events that are wanted in the account, '*' for all. The others are passed over unread. */
  wanted(account: Sql): Sql;
  /**
   * In a transaction: it changes rows only, and answers soon. Answers of how many events, the first ones, it made what there was to be
   * made, at least one: the others are given again. It is asked again where it throws, and the account's later events wait.
   */
  make(ctx: C, events: readonly ReadEvent[]): Promise<number>;
}

/** How the records of a type are read by their ids. */
export interface NodeSourceOf<C> {
  /** The rows with one of these ids, an array of UUIDs in SQL, as the caller finds them one by one. */
  rows(ctx: C, ids: Sql): Sql;
  /** What their columns are. */
  shape: Shape;
  /** The record of the account with this id, live or not, as a select of at most one row. */
  has(account: string, id: Sql): Sql;
}

/** An event that a module declares: what it is about, who may see it, and how its record is found. */
export interface DeclaredEventOf<C> {
  of: RecordEvents;
  access: AccessMark;
  /** Whether who may see a record depends on the person. */
  byPerson?: boolean;
  /** Whether it starts no run and ends no wait: what runs themselves tell of, by which they would start themselves. */
  startsNothing?: true;
  /** The record as it is now; null, or 404, where it is gone. */
  find(ctx: C, id: string, selection: ReadonlySet<string>): Promise<object | null>;
}

/** What all modules together offer the kernel. */
export interface Registry<C> {
  reactions: ReadonlyMap<string, ReactionOf<C>[]>;
  /** Every event of the system, with who may see it. */
  events: ReadonlyMap<string, DeclaredEventOf<C>>;
  jobs: ReadonlyMap<string, JobHandlerOf<C>>;
  due: ReadonlyMap<string, DueWorkOf<C>>;
  readers: ReadonlyMap<string, FeedReaderOf<C>>;
  /** By the kind of what is needed. */
  uses: ReadonlyMap<string, UsesOf<C>[]>;
  /** By the kind of what is about to go. */
  locksBefore: ReadonlyMap<string, LocksBeforeOf<C>[]>;
  filterable: ReadonlyMap<string, DeclaredTable>;
  references: ReadonlyMap<string, Reference>;
  /** What records are read from, by the names of their types. */
  tables: ReadonlyMap<string, DeclaredTable>;
  /** How records are read by their ids alone, by the names of their types. */
  nodes: ReadonlyMap<string, NodeSourceOf<C>>;
  sweeps: ReadonlyMap<string, Sweep | AccountSweepOf<C>>;
  seals: readonly SealedColumn[];
  schema(): GraphQLSchema;
}
