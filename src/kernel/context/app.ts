import type { ExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import type { Limiter } from '../access/rateLimits.js';
import type { Budget } from '../base/budget.js';
import type { Clock } from '../base/clock.js';
import type { Config } from '../base/config.js';
import type { AppError } from '../base/errors.js';
import type { Cause } from '../base/principal.js';
import { traceOf } from '../base/trace.js';
import type { TurnQueue } from '../base/turnQueue.js';
import type { ConnectionShares } from '../database/connectionShares.js';
import type { Database } from '../database/index.js';
import type { Egress } from '../egress/egress.js';
import type { Channel } from '../events/channel.js';
import type { FollowedFeeds } from '../events/followedFeeds.js';
import type { LookupBatcher } from '../reads/lookupBatcher.js';
import type { GroupCommit } from '../writes/groupCommit.js';
import type { UnitOfWork } from '../writes/unitOfWork.js';
import type { Jobs } from './jobQueue.js';
import type { Memory } from './memory.js';
import type { Registry } from './registry.js';
import type { Vendors } from './vendors.js';

/** What lives as long as the server. */
export interface AppOf<C> {
  config: Config & { secretKey: string };
  clock: Clock;
  log: Logger;
  database: Database;
  commits: GroupCommit;
  reads: LookupBatcher;
  /** What one account may have of the database at a time. */
  shares: ConnectionShares;
  /** What `recall` goes by. */
  recalled: Memory;
  /** Reads that may take long. */
  longReads: TurnQueue;
  /** Transactions that change very many records. */
  longWrites: TurnQueue;
  registry: Registry<C>;
  limiter: Limiter;
  vendors: Vendors;
  /** The way to addresses that customers chose. */
  egress: Egress;
  /** The names of the vendors that are simulated although there is a database of its own: nothing is sent or paid there. */
  simulated: readonly string[];
  channel: Channel;
  jobs: Jobs;
  /** The feeds that somebody follows in this process. */
  followed: FollowedFeeds;
  /** Called after a commit that wrote events of this account, where it is one: they wait for their places in the feed. */
  eventsWritten(account?: string): void;
  /** How to get into the demo account, where there is one: known once the server has started. */
  demo?: { email: string; password?: string };
  /** Whether requests are taken: the migrations are done, and no stop has begun. */
  ready: boolean;
  stopping: boolean;
}

/** What the HTTP server or a socket tells of the request, and takes back for its response. */
export interface RequestInfo {
  id: string;
  ip: string;
  userAgent?: string;
  /** Why the credentials that came with the request were not taken, for operations that need some. */
  refusal?: AppError;
  /** The client's key for a safe retry, and whether a kept outcome answered it. */
  idempotencyKey?: string;
  replayed?: boolean;
  /** What a request that commits by itself holds under that key, or without one. */
  claim?: HeldClaim;
  /** What the operation may spend while it runs; none where the request can ask for no more than a page. */
  budget?: Budget;
  /** The most bytes that a statement may print of a page for it; one of more ends with `TooLarge`. */
  mostBytes?: number;
  /** Told of the text of every statement by which it reads, and of `any` where it is not known what it reads. */
  reads?: (statement: string) => void;
  /** What the client calls this mutation, so that it knows the events of its own. */
  clientMutationId?: string;
  /** What the client calls the mutation field that runs now, where its arguments say so; goes before `clientMutationId`. */
  mutationId?: string;
  /** Our place in the trace that the caller is in (W3C Trace Context): told with what it changes, and to webhooks. */
  traceparent?: string;
  /** What the systems before us say of that trace: goes wherever our place in it goes. */
  tracestate?: string;
  /** The runs behind it, the first one first: what it changes is told with them. */
  causes?: readonly Cause[];
  /** What fields that tell of the moment of the document answer, where it is read field by field: read before the rest. */
  moment?: Readonly<Record<string, string>>;
  /** The batch that its changes belong to: a bulk edit, an import. */
  batchId?: string;
  /** Set by an operation: a session to hand to the browser, or null to end it. */
  session?: { token: string; expiresAt: Date } | null;
}

/** The claim of an operation under an `Idempotency-Key`; of a detached one without a key, what holds its outcome while it runs. */
export interface HeldClaim {
  /** Keeps the outcome in the unit of work of its effect. Throws 409 where another request has taken the claim over. */
  keep(unit: UnitOfWork, result: ExecutionResult): Promise<void>;
  /** What a detached operation comes to, in a unit of work, where this is the value of its field. */
  answer?(unit: UnitOfWork, value: unknown): Promise<ExecutionResult>;
  /** What was kept so. */
  outcome?: ExecutionResult;
  /** What is noted under the key of a request that was done in part, by this one or the one before it (`saveProgress`). */
  notes?: unknown;
  /** Notes something in the unit of work of a part. Throws 409 where another request has taken the claim over. */
  note?(unit: UnitOfWork, notes: object): Promise<void>;
  /** Whether what it answers is not final, and so not to be kept. */
  isOpen?: boolean;
}

/** By what a line of the log is found: the request, and the trace that it is part of. */
export const inLog = ({ id, traceparent }: RequestInfo) => ({ requestId: id, ...(traceparent && { traceId: traceOf(traceparent) }) });
