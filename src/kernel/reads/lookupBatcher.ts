import { LRUCache } from 'lru-cache';
import { BatchQueue } from '../base/batchQueue.js';
import { leftNothing } from '../database/errors.js';
import type { Database } from '../database/index.js';
import type { Bound } from '../database/statement.js';

interface Waiting {
  query: Bound;
  account?: string;
  answered(text: string): void;
  failed(error: unknown): void;
}

/** Powers of two, so that a kind of look-up has a handful of prepared statements. */
const mostTogether = 8;

/**
 * Look-ups outside of a transaction, by whoever: while two statements of one text are under way, later ones are queued, and
 * then go as one. Each answer is of a moment after its question. Only for what finds few rows by their keys: a look-up waits
 * for those beside it. Where the database ends or refuses them together, each is asked once more by itself, within the share of its
 * account: only the one at fault fails.
 */
export class LookupBatcher {
  readonly #queue: BatchQueue<Waiting>;
  /** Weighed by what each may come to: up to eight times its text, in a handful of texts. */
  readonly #texts = new LRUCache<string, string[]>({ max: 500, maxSize: 2_000_000, sizeCalculation: (_, text) => 15 * text.length });

  constructor(
    private readonly database: Pick<Database, 'planned'>,
    maxInFlight?: number,
    /** Waits for the account's turn at a connection. */
    private readonly inTurn: <T>(account: string, read: () => Promise<T>) => Promise<T> = (_account, read) => read(),
  ) {
    this.#queue = new BatchQueue(takeBatch, (waiting) => this.#ask(waiting), maxInFlight);
  }

  /** The one text that the statement answers. `account` is who asks, where somebody is known to. */
  text(query: Bound, account?: string): Promise<string> {
    return new Promise((answered, failed) => this.#queue.join(query.text, { query, account, answered, failed }));
  }

  async #ask(batch: Waiting[]): Promise<void> {
    try {
      const texts = await this.database.planned(this.#together(batch.map(({ query }) => query)));
      for (const [i, { answered }] of batch.entries()) answered(texts[i]!);
    } catch (error) {
      // Nobody waits for those that are asked by themselves.
      if (batch.length > 1 && leftNothing(error)) for (const one of batch) void this.#askAlone(one);
      else for (const { failed } of batch) failed(error);
    }
  }

  /** What is slow may take its time again, so that its account's share bounds how many of these are under way. */
  #askAlone({ query, account, answered, failed }: Waiting): Promise<void> {
    const read = () => this.database.planned(query);
    return (account === undefined ? read() : this.inTurn(account, read)).then(([text]) => answered(text!), failed);
  }

  /** A column for each of some statements of one text. */
  #together(queries: Bound[]): { text: string; values: unknown[] } {
    const [first] = queries;
    if (queries.length === 1) return first!;
    const { text, values } = first!;
    const known = this.#texts.get(text) ?? [];
    known[queries.length] ??= `select ${queries.map((_, i) => `(${shifted(text, i * values.length)})`).join(', ')}`;
    this.#texts.set(text, known);
    return { text: known[queries.length]!, values: queries.flatMap((query) => query.values) };
  }
}

/** As many as a prepared statement is for. */
const takeBatch = (waiting: Waiting[]): Waiting[] => waiting.splice(0, 2 ** Math.floor(Math.log2(Math.min(waiting.length, mostTogether))));

/** A text whose parameters begin later by so many. */
const shifted = (text: string, by: number) => text.replace(/\$(\d+)/g, (_, n: string) => `$${Number(n) + by}`);
