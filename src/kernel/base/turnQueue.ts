/**
 * Lets only so many pieces of work run at a time, one of a key, and the keys in turn: who asks for much waits for himself, and
 * holds up nobody else.
 */
export class TurnQueue {
  /** What waits, by key; the key whose turn is next comes first. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  readonly #running = new Set<string>();

  constructor(private readonly most: number) {}

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(key) ?? [];
      this.#waiting.set(key, line);
      line.push(() => work().then(resolve, reject));
      this.#next();
    });
  }

  #next(): void {
    for (const [key, line] of this.#waiting) {
      if (this.#running.size >= this.most) return;
      if (this.#running.has(key)) continue;
      const work = line.shift()!;
      if (line.length === 0) this.#waiting.delete(key);
      this.#running.add(key);
      void work().finally(() => {
        this.#running.delete(key);
        this.#lineUpAgain(key);
        this.#next();
      });
    }
  }

  /** What else waits for the key comes after the other keys. */
  #lineUpAgain(key: string): void {
    const line = this.#waiting.get(key);
    if (!line) return;
    this.#waiting.delete(key);
    this.#waiting.set(key, line);
  }
}
