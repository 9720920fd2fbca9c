/** The part of a database that lies below Prisma. */
export interface Store {
  /** of a pool, the most connections */
  connections?: number;
  execute(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  /** the rows of a statement that is planned once, whatever its values are */
  executePlanned(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** the value of the one row and column that a statement answers, which is a text */
  text(query: { text: string; values: unknown[] }): Promise<string>;
  /** the columns, texts, of the one row of a statement that is planned once, whatever its values are */
  planned(query: { text: string; values: unknown[] }): Promise<string[]>;
  /** the process has started, and is waited for from here on */
  started(): void;
  close(): Promise<void>;
}

export interface Log {
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
}
