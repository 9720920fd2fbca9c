import type { GraphQLSchema } from 'graphql';
import type { AccessMark } from '../access/access.js';
import type { Sql } from '../database/sql.js';
import type { Fact } from '../events/facts.js';
import type { RecordEvents } from '../events/recordEvents.js';
import type { FilterableOf } from './filterable.js';
import type { JobRun } from './jobQueue.js';

// These types are about the context `C` that is handed to what a module declares; context.ts names them for it.

/** What another module does when something happens, in the transaction of the change. */
export type ReactionOf<C> = (ctx: C, fact: Fact) => Promise<void>;

/** Loads the values of many keys in one statement, in the order of the keys. */
export type BatchOf<C, V = unknown> = (ctx: C, keys: readonly string[]) => Promise<ArrayLike<V | Error>>;

/**
 * What a module does later. It runs as the person who caused it, outside any transaction, and again when its process died
 * or it threw: what must not happen twice is fenced in the module's own rows.
 */
// biome-ignore lint/suspicious/noExplicitAny: each queue has data of its own, which its module wrote and reads
export type JobHandlerOf<C, Data = any> = (ctx: C, data: Data, run: JobRun) => Promise<void>;

/** Records that a field of a body may name by their ids. */
export interface Reference {
  table: string;
  /** The column that is a record's id within its account, `id` by default. */
  key?: string;
  /** Which of them may be named, in SQL; those that are not deleted by default. */
  live?: string;
}

/** How the records of a type are found and read by their ids. */
export interface NodeSourceOf<C> {
  /** The ids of those of its records that have one of these and that the caller may find, as a select of `id`. */
  find(ctx: C, ids: readonly string[]): Sql;
  /** The same of all records that there are or were. */
  all(account: string, ids: readonly string[]): Sql;
  load: BatchOf<C, object | null>;
}

/** What is done over all accounts once its time has come. */
export interface Sweep {
  /** A statement over at most `$2` rows that answers a row for each; `$1` is the moment. It is run until fewer are left. */
  sql: string;
  /** The moment, `now` by default. */
  before?: (now: Date) => Date;
}

/** An event that a module declares: what it is about, and who may see it. */
export interface DeclaredEvent {
  of: RecordEvents;
  access: AccessMark;
}

/** What all modules together offer the kernel. */
export interface Registry<C> {
  loaders: ReadonlyMap<string, BatchOf<C>>;
  reactions: ReadonlyMap<string, ReactionOf<C>[]>;
  /** Every event of the system, with who may see it. */
  events: ReadonlyMap<string, DeclaredEvent>;
  jobs: ReadonlyMap<string, JobHandlerOf<C>>;
  filterable: ReadonlyMap<string, FilterableOf<C>>;
  references: ReadonlyMap<string, Reference>;
  /** How records are read by their ids, by the names of their types. */
  nodes: ReadonlyMap<string, NodeSourceOf<C>>;
  sweeps: readonly Sweep[];
  schema(): GraphQLSchema;
}
