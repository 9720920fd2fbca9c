import { AppError } from './errors.js';
import { nextTurn } from './eventLoop.js';
import { jsonSize } from './jsonText.js';

export interface BudgetLimits {
  records: number;
  bytes: number;
}

/** The settings that the limits come from. */
const settings = { records: 'GRAPHQL_MAX_RECORDS', bytes: 'GRAPHQL_MAX_BYTES' } as const;

/** Records that are put into an answer in one turn of the event loop. */
const inOneTurn = 1000;

/** Fewer rows of one statement are not weighed: they are less than a page. */
const fewRows = 100;

/**
 * What one document spends while it runs: records and bytes that it reads, records that it answers (one that is shown often
 * counts each time) and the bytes of the answer. Beyond a limit it throws 400, naming limit and setting, and keeps the refusal.
 */
export class Budget {
  #read = 0;
  #bytesRead = 0;
  #shown = 0;
  #bytesShown = 0;
  /** Why the request ends, once a limit is passed. */
  refusal?: AppError;
  /** Whether its operation manages its own transactions, and may be done before it is shown: then it is not refused as a whole. */
  isDetached = false;
  #turn: Promise<void> | undefined;
  #inTurn = 0;

  /**
   * `estimated` is the cost of the document before it ran. What a mutation reads to do its work is its own matter
   * (`countsReads: false`): only what it answers counts.
   */
  constructor(
    private readonly limits: BudgetLimits,
    private readonly estimated: number,
    private readonly countsReads = true,
  ) {}

  /** Rows were read. Many of them are weighed too, unless the size of their JSON text is told. */
  read(rows: readonly unknown[], characters?: number): void {
    if (!this.countsReads) return;
    this.#read += rows.length;
    this.#hold('records', this.#read);
    this.#bytesRead += characters ?? (rows.length > fewRows ? jsonSize(rows, this.limits.bytes) : 0);
    this.#hold('bytes', this.#bytesRead);
  }

  /**
   * Records go into the answer. When many have gone in one turn of the event loop, answers a promise of a later one: to be
   * awaited before they are looked at, so that other requests come in between.
   */
  show(records: number): Promise<void> | undefined {
    this.#shown += records;
    this.#hold('records', this.#shown);
    this.#inTurn += records;
    if (this.#inTurn > inOneTurn) {
      this.#inTurn = 0;
      this.#turn = (this.#turn ?? Promise.resolve()).then(nextTurn);
    }
    return this.#turn;
  }

  /** The answer has this many bytes. */
  print(bytes: number): void {
    this.#bytesShown = bytes;
    this.#hold('bytes', bytes);
  }

  /** The answer has this many bytes, and nothing can be refused any more: what it tells of is done. */
  note(bytes: number): void {
    this.#bytesShown = bytes;
  }

  /**
   * What is answered of records once a limit is passed: nothing, so that an operation which is refused ends quickly. One that may be done
   * says of each in its place that it is not shown: throws the refusal.
   */
  instead<T>(nothing: T): T {
    if (this.isDetached && this.refusal) throw this.refusal;
    return nothing;
  }

  /** Begins again: the work is tried another time. */
  restart(): void {
    this.#read = this.#bytesRead = this.#shown = 0;
    this.refusal = undefined;
  }

  /** The most records that it may read. */
  get mostRecords(): number {
    return this.limits.records;
  }

  /** What GraphQL tells of it. */
  get cost(): { estimated: number; records: number; bytes: number } {
    return { estimated: this.estimated, records: Math.max(this.#shown, this.#read), bytes: this.#bytesShown };
  }

  /** The most bytes that an answer may have. */
  get mostBytes(): number {
    return this.limits.bytes;
  }

  #hold(limit: keyof BudgetLimits, spent: number): void {
    const most = this.limits[limit];
    if (spent <= most) return;
    const [setting, code] = [settings[limit], 'invalid_request'] as const;
    const message = `The operation reads more than ${most} ${limit}, the limit ${setting}. Ask for smaller pages or fewer fields`;
    this.refusal ??= new AppError(code, message, { more: { limit, setting, most } });
    throw this.refusal;
  }
}
