import { LRUCache } from 'lru-cache';
import { BatchQueue } from '../base/batchQueue.js';
import { leftNothing } from '../database/errors.js';
import type { Database } from '../database/index.js';
import { isShareable, type LockRequest, mergedRequests } from './locks.js';
import { mostCharacters, type RowBatch, sharedStatementOf, statementOf } from './rowBatches.js';

/** All that a unit of work writes, in one statement. */
export interface Write {
  batches: RowBatch[];
  /** What it takes besides. */
  locks: readonly LockRequest[];
  /** The names of those that no other unit may take in the same statement: it would not wait for this one. */
  exclusive?: ReadonlySet<string>;
  /** Whether it may wait some milliseconds for others: nobody waits for it. */
  mayWait?: boolean;
}

type InTurn = <T>(account: string, write: () => Promise<T>) => Promise<T>;

interface Waiting extends Write {
  account: string;
  done(): void;
  failed(error: unknown): void;
}

const mostRows = 200;

/** Rows of a unit that goes with other accounts'. */
const mostRowsShared = 20;
/** Characters of such a unit. */
const mostCharactersShared = 10_000;
/** How long units of several accounts wait for a lock together. */
const sharedWaitMs = 200;
/** Units of one account that may be under way with others'. */
const mostOfOne = 16;
/** Fewer units than these that may wait do so for as long, in which others come that began with them. */
const delay = { ms: 3, small: 8 };
/** After a fault among them, how long their accounts' units go without others'. */
const separatedMs = 1000;

/**
 * Group commit of units of work that are a single statement each: while two statements of a kind are under way, later ones are
 * queued, and then go as one. A lone writer waits for nobody; of many, all share one round trip, one run of each trigger and
 * one commit. Nothing else is shared: what fails in the database is written again, in the end unit by unit, and only the one at fault
 * fails.
 *
 * Units of several accounts go together where they are small, only insert, and take what all may take together: then they wait for
 * hardly anything, and not for long. What one account's units come to costs the others no more than an attempt.
 */
export class GroupCommit {
  readonly #queue: BatchQueue<Waiting>;
  /** Units that may wait: they are gathered for a moment, so that each statement serves more of them. */
  readonly #delayedQueue: BatchQueue<Waiting>;
  /** Accounts whose units are not written together with others', since something failed a moment ago. */
  readonly #separated = new LRUCache<string, true>({ max: 10_000, ttl: separatedMs });
  /** How many units of an account are shared, and not settled yet. */
  readonly #shared = new Map<string, number>();

  constructor(
    private readonly database: Pick<Database, 'text'>,
    maxInFlight?: number,
    /** Waits for the account's turn at a connection. */
    private readonly inTurn: InTurn = (_account, write) => write(),
  ) {
    const settle = (units: Waiting[]) => this.#settle(units);
    this.#queue = new BatchQueue(take, settle, maxInFlight);
    this.#delayedQueue = new BatchQueue(take, settle, maxInFlight, maxInFlight === Number.POSITIVE_INFINITY ? undefined : delay);
  }

  /** Writes a unit; it is committed, or not there at all. */
  async write(unit: Write): Promise<void> {
    const [first] = unit.batches;
    if (!first) return;
    const account = first.rows[0]!.accountId as string;
    const shared = this.#shared.get(account) ?? 0;
    const isShared = mayBeShared(unit) && shared < mostOfOne && !this.#separated.has(account);
    if (isShared) this.#shared.set(account, shared + 1);
    const queue = unit.mayWait ? this.#delayedQueue : this.#queue;
    try {
      await new Promise<void>((done, failed) => queue.join(kindOf(unit, isShared, account), { ...unit, account, done, failed }));
    } finally {
      if (isShared) this.#leave(account);
    }
  }

  #leave(account: string): void {
    const left = this.#shared.get(account)! - 1;
    if (left > 0) this.#shared.set(account, left);
    else this.#shared.delete(account);
  }

  async #settle(units: Waiting[]): Promise<void> {
    try {
      await this.#send(units);
      for (const unit of units) unit.done();
    } catch (error) {
      // After a lost connection nobody knows; what the database says has failed is not there. Nobody waits for those that are written by
      // themselves.
      if (units.length > 1 && leftNothing(error)) this.#again(units);
      else for (const unit of units) unit.failed(error);
    }
  }

  /** Units that failed together: those of several accounts go by account, and those of one by themselves. */
  #again(units: Waiting[]): void {
    const isShared = ofSeveral(units);
    for (const unit of units) {
      if (!isShared) void this.#settle([unit]);
      else {
        this.#separated.set(unit.account, true);
        this.#queue.join(kindOf(unit, false, unit.account), unit);
      }
    }
  }

  async #send(units: Waiting[]): Promise<void> {
    const [first] = units;
    if (ofSeveral(units)) {
      await this.database.text(sharedStatementOf(joined(units), lockRequestsOf(units), sharedWaitMs));
      return;
    }
    const { account, batches, locks } = first!;
    const statement =
      units.length === 1
        ? statementOf(batches, mergedRequests([locks]))
        : statementOf(joined(units), mergedRequests(units.map((unit) => unit.locks)), false);
    // Also what nobody waits for: one by one, or of many kinds, an account's units would take all connections.
    await this.inTurn(account, () => this.database.text(statement));
  }
}

/** The rows of units of one kind, batch by batch. */
const joined = (units: readonly Waiting[]): RowBatch[] => units[0]!.batches.map((batch, i) => together(batch, units, i));

const ofSeveral = (units: readonly Waiting[]) => units.some(({ account }) => account !== units[0]!.account);

/** What units of several accounts take, in one order: names are those of an account. */
function lockRequestsOf(units: readonly Waiting[]): LockRequest[] {
  const all = new Map(units.flatMap(({ account, locks }) => locks.map((lock) => [`${account} ${lock.name}`, lock] as const)));
  return [...all.keys()].sort().map((name) => all.get(name)!);
}

/** Whether a unit may go in one statement with other accounts': it changes nothing, and takes nothing that another would wait for. */
const mayBeShared = (unit: Write) =>
  !unit.exclusive?.size &&
  unit.locks.every(isShareable) &&
  unit.batches.every(({ kind }) => kind === 'insert') &&
  rowsOf(unit) <= mostRowsShared &&
  sizeOf(unit) <= mostCharactersShared;

/** Those of a kind have a statement of the same text, however many they are. */
function kindOf({ batches, locks }: Write, isShared: boolean, account: string): string {
  const shapes = batches.map(({ kind, layout }) => `${kind} ${layout.name}`);
  return isShared ? `${shapes} ${locks.map(({ own }) => own!.sql)}` : `${account} ${shapes}`;
}

/** What no other unit of the same statement may take or change: a clause changes a row once, and a lock keeps out no other clause. */
function* ownOf({ batches, exclusive }: Write): Generator<string> {
  yield* exclusive ?? [];
  for (const { kind, layout, ids } of batches) if (kind === 'update') for (const id of ids) yield `${layout.table} ${id}`;
}

const together = (batch: RowBatch, units: readonly Waiting[], i: number): RowBatch => ({
  ...batch,
  rows: units.flatMap(({ batches }) => batches[i]!.rows),
});

const rowsOf = ({ batches }: Write) => batches.reduce((rows, batch) => rows + batch.rows.length, 0);
const sizeOf = ({ batches }: Write) => batches.reduce((size, batch) => size + batch.size, 0);

/** As many units as one statement should carry, and may: in the order of their accounts, in which all statements write. */
function take(waiting: Waiting[]): Waiting[] {
  let [size, rows] = [0, 0];
  const names = new Set<string>();
  const isApart = (unit: Waiting) => {
    const own = new Set(ownOf(unit));
    const before = names.size;
    for (const name of own) names.add(name);
    return names.size === before + own.size;
  };
  const fits = (unit: Waiting, nth: number) => {
    size += sizeOf(unit);
    rows += rowsOf(unit);
    return nth === 0 || (rows <= mostRows && size <= mostCharacters);
  };
  const end = waiting.findIndex((unit, nth) => !fits(unit, nth) || !isApart(unit));
  const taken = waiting.splice(0, end < 0 ? waiting.length : end);
  return taken.sort((a, b) => (a.account === b.account ? 0 : a.account < b.account ? -1 : 1));
}
