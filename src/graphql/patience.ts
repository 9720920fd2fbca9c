/** How long a document is tried again while the database answers others: what it asks for is too much, and it holds up its account. */
const patienceMs = 15_000;

/** How long one document is tried again that could not be read. Where the database answers nobody, there is no end. */
export class Patience {
  #answersSince?: number;
  #isOver = false;

  constructor(private readonly database: { isCurrent(): Promise<boolean> }) {}

  /** It was read. */
  restore(): void {
    this.#isOver = false;
    this.#answersSince = undefined;
  }

  /** Whether it has ended, after one more attempt that failed. It is not begun anew before an attempt succeeds. */
  async isOver(): Promise<boolean> {
    const answers = await this.database.isCurrent().catch(() => false);
    this.#answersSince = answers ? (this.#answersSince ?? performance.now()) : undefined;
    this.#isOver = answers && (this.#isOver || performance.now() - this.#answersSince! > patienceMs);
    return this.#isOver;
  }
}
