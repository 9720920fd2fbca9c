/** The part of a database that lies below Prisma. */
export interface Store {
  execute(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
  close(): Promise<void>;
}

export interface Log {
  warn(...args: unknown[]): void;
}
