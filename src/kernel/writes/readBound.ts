import { jsonSize } from '../base/jsonText.js';

/** Rows turned out to be too large to be changed by one unit of work: all of it is to be taken back, and done in parts. */
export class TooLargeTogether extends Error {
  constructor(
    /** How many times as large as they may be they are, more than 1. */
    readonly times: number,
  ) {
    super('What is changed together is too large');
  }
}

/** Weighs the rows that a unit of work reads to change them. */
export class ReadBound {
  #size = 0;

  /** `most`: characters that they may take as JSON. Without it they are not weighed. */
  constructor(private readonly most?: number) {}

  /** Adds rows to those that were read. Throws `TooLargeTogether` where all of them are larger than they may be. */
  add(rows: readonly object[]): void {
    if (this.most === undefined) return;
    this.#size += jsonSize(rows);
    if (this.#size > this.most) throw new TooLargeTogether(this.#size / this.most);
  }
}
