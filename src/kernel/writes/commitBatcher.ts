import { BatchQueue } from '../base/batchQueue.js';
import { leftNothing } from '../database/errors.js';
import type { Database } from '../database/index.js';
import { allTaken, type Taking } from './locks.js';
import { type Batch, mostCharacters, statementOf } from './rowBatches.js';

/** All that a unit of work writes, in one statement. */
export interface Write {
  batches: Batch[];
  /** What it takes besides. */
  locks: readonly Taking[];
  /** The names of those that no other unit may take in the same statement: it would not wait for this one. */
  exclusive?: ReadonlySet<string>;
}

interface Waiting extends Write {
  done(): void;
  failed(error: unknown): void;
}

const mostRows = 200;

/**
 * Units of work that are a single statement each, written together: while two statements of a kind are under way, later ones are
 * queued, and then go as one. A lone writer waits for nobody; of many, all share one round trip, one run of each trigger and
 * one commit. Nothing else is shared: what fails in the database is written again unit by unit, and only the one at fault fails.
 */
export class CommitBatcher {
  readonly #lines: BatchQueue<Waiting>;

  constructor(
    private readonly database: Pick<Database, 'text'>,
    mostUnderWay?: number,
  ) {
    this.#lines = new BatchQueue(take, (units) => this.#settle(units), mostUnderWay);
  }

  /** Writes a unit; it is committed, or not there at all. */
  write(unit: Write): Promise<void> {
    if (unit.batches.length === 0) return Promise.resolve();
    return new Promise((done, failed) => this.#lines.join(kindOf(unit), { ...unit, done, failed }));
  }

  async #settle(units: Waiting[]): Promise<void> {
    try {
      await this.#send(units);
      for (const unit of units) unit.done();
    } catch (error) {
      // After a lost connection nobody knows; what the database says has failed is not there. Nobody waits for those that are written by themselves.
      if (units.length > 1 && leftNothing(error)) for (const unit of units) void this.#settle([unit]);
      else for (const unit of units) unit.failed(error);
    }
  }

  async #send(units: Write[]): Promise<void> {
    const [first] = units;
    const batches = units.length === 1 ? first!.batches : first!.batches.map((batch, i) => together(batch, units, i));
    const locks = allTaken(units.map((unit) => unit.locks));
    await this.database.text(statementOf(batches, locks, units.length === 1));
  }
}

/** Only what one account writes goes together: nobody waits for another's locks. */
function kindOf({ batches }: Write): string {
  return `${batches[0]!.rows[0]!.accountId} ${batches.map(({ kind, shape }) => `${kind} ${shape.name}`)}`;
}

/** What no other unit of the same statement may take or change: a clause changes a row once, and a lock keeps out no other clause. */
function* ownOf({ batches, exclusive }: Write): Generator<string> {
  yield* exclusive ?? [];
  for (const { kind, shape, ids } of batches) if (kind === 'update') for (const id of ids) yield `${shape.table} ${id}`;
}

const together = (batch: Batch, units: Write[], i: number): Batch => ({ ...batch, rows: units.flatMap(({ batches }) => batches[i]!.rows) });

const rowsOf = ({ batches }: Write) => batches.reduce((rows, batch) => rows + batch.rows.length, 0);
const sizeOf = ({ batches }: Write) => batches.reduce((size, batch) => size + batch.size, 0);

/** As many units as one statement should carry, and may. */
function take(waiting: Waiting[]): Waiting[] {
  const most = Math.max(1, Math.floor(mostRows / rowsOf(waiting[0]!)));
  let size = 0;
  const names = new Set<string>();
  const isApart = (unit: Waiting) => {
    const own = new Set(ownOf(unit));
    const before = names.size;
    for (const name of own) names.add(name);
    return names.size === before + own.size;
  };
  const fits = (unit: Waiting, nth: number) => {
    size += sizeOf(unit);
    return nth === 0 || (nth < most && size <= mostCharacters);
  };
  const end = waiting.findIndex((unit, nth) => !fits(unit, nth) || !isApart(unit));
  return waiting.splice(0, end < 0 ? waiting.length : end);
}
