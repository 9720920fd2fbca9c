import { BatchQueue } from '../base/batchQueue.js';
import { wasRefused } from '../database/errors.js';
import type { Database } from '../database/index.js';
import type { Sql } from '../database/sql.js';
import { type Batch, statementOf } from './rowBatches.js';

/** All that a unit of work writes, in one statement. */
export interface Write {
  batches: Batch[];
  /** What it takes besides: locks by their names. */
  locks: ReadonlyMap<string, Sql>;
}

interface Waiting extends Write {
  done(): void;
  failed(error: unknown): void;
}

const mostRows = 200;

/**
 * Units of work that are a single statement each, written together: while two statements of a kind are under way, later ones are
 * queued, and then go as one. A lone writer waits for nobody; of many, all share one round trip, one run of each trigger and
 * one commit. Nothing else is shared: what the database refuses is written again unit by unit, and only the one at fault fails.
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
    if (!unit.batches.every(({ kind }) => kind === 'insert')) return this.#send([unit]);
    return new Promise((done, failed) => this.#lines.join(kindOf(unit), { ...unit, done, failed }));
  }

  async #settle(units: Waiting[]): Promise<void> {
    try {
      await this.#send(units);
      for (const unit of units) unit.done();
    } catch (error) {
      // After a lost connection nobody knows; what was refused is not there.
      if (units.length > 1 && wasRefused(error)) await Promise.all(units.map((unit) => this.#settle([unit])));
      else for (const unit of units) unit.failed(error);
    }
  }

  async #send(units: Write[]): Promise<void> {
    const [first] = units;
    // In one order, so that two statements wait for each other instead of for ever.
    const locks = new Map(units.flatMap((unit) => [...unit.locks]).sort(([a], [b]) => (a < b ? -1 : 1)));
    const batches = units.length === 1 ? first!.batches : first!.batches.map((batch, i) => together(batch, units, i));
    await this.database.text(statementOf(batches, [...locks.values()]));
  }
}

/** Only what one account writes goes together: nobody waits for another's locks. */
function kindOf({ batches }: Write): string {
  return `${batches[0]!.rows[0]!.accountId} ${batches.map(({ shape }) => shape.name)}`;
}

const together = (batch: Batch, units: Write[], i: number): Batch => ({ ...batch, rows: units.flatMap(({ batches }) => batches[i]!.rows) });

const sizeOf = ({ batches }: Write) => batches.reduce((rows, batch) => rows + batch.rows.length, 0);

/** As many units as one statement should carry. */
const take = (waiting: Waiting[]): Waiting[] => waiting.splice(0, Math.max(1, Math.floor(mostRows / sizeOf(waiting[0]!))));
