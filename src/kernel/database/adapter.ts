import type {
  IsolationLevel,
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
  SqlQuery,
  SqlQueryable,
  SqlResultSet,
  Transaction,
} from '@prisma/driver-adapter-utils';
import { DriverAdapterError, isDriverAdapterError } from '@prisma/driver-adapter-utils';

/** What differs between the two drivers, beside the statements themselves. */
export interface Driver {
  /** runs a whole script as it stands: PL/pgSQL bodies hold semicolons, so it may never be split */
  script(sql: string): Promise<void>;
  /** replaces the driver's own startTransaction */
  begin?(isolation?: IsolationLevel): Promise<Transaction>;
  onStatement?: () => void;
}

type Run<T> = (query: SqlQuery) => Promise<T>;

const plain = (sql: string): SqlQuery => ({ sql, args: [], argTypes: [] });
const ABORTED = 'current transaction is aborted, nothing was committed';
const constraintName = /constraint "([^"]+)"/;

/** Makes both drivers report the same database error in the same form. */
function sameOnBoth(error: unknown): unknown {
  if (!isDriverAdapterError(error)) return error;
  const { cause } = error;
  if (cause.kind === 'UniqueConstraintViolation') {
    const index = constraintName.exec(cause.originalMessage ?? '')?.[1];
    if (index) return new DriverAdapterError({ ...cause, constraint: { index } });
  }
  if (cause.originalCode === '40P01') return new DriverAdapterError({ ...cause, kind: 'TransactionWriteConflict' });
  return error;
}

/** Counts every statement and evens out the errors of anything that runs SQL. */
class Statements implements SqlQueryable {
  readonly provider = 'postgres';
  readonly adapterName: string;

  constructor(
    protected readonly inner: SqlQueryable,
    protected readonly driver: Driver,
  ) {
    this.adapterName = inner.adapterName;
  }

  queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    return this.run(query, (q) => this.inner.queryRaw(q));
  }

  executeRaw(query: SqlQuery): Promise<number> {
    return this.run(query, (q) => this.inner.executeRaw(q));
  }

  protected async run<T>(query: SqlQuery, send: Run<T>): Promise<T> {
    this.driver.onStatement?.();
    try {
      return await send(query);
    } catch (error) {
      throw sameOnBoth(error);
    }
  }
}

/**
 * A transaction that never reports a commit that was none: PostgreSQL answers COMMIT of an aborted transaction with a
 * silent ROLLBACK, and neither driver looks.
 */
class SafeTransaction extends Statements implements Transaction {
  private aborted = false;

  constructor(
    private readonly tx: Transaction,
    driver: Driver,
  ) {
    super(tx, driver);
  }

  get options() {
    return this.tx.options;
  }

  protected override async run<T>(query: SqlQuery, send: Run<T>): Promise<T> {
    if (this.aborted && query.sql === 'COMMIT') {
      await super.run(plain('ROLLBACK'), send);
      throw this.refusal();
    }
    try {
      const result = await super.run(query, send);
      if (/^\s*rollback\s+to\b/i.test(query.sql)) this.aborted = false;
      return result;
    } catch (error) {
      this.aborted = true;
      throw error;
    }
  }

  async commit(): Promise<void> {
    if (!this.options.usePhantomQuery) return this.tx.commit();
    this.driver.onStatement?.();
    if (!this.aborted) return this.tx.commit();
    await this.tx.rollback();
    throw this.refusal();
  }

  async rollback(): Promise<void> {
    if (this.options.usePhantomQuery) this.driver.onStatement?.();
    await this.tx.rollback();
  }

  async createSavepoint(name: string): Promise<void> {
    await this.executeRaw(plain(`SAVEPOINT ${name}`));
  }

  async rollbackToSavepoint(name: string): Promise<void> {
    await this.executeRaw(plain(`ROLLBACK TO SAVEPOINT ${name}`));
  }

  async releaseSavepoint(name: string): Promise<void> {
    await this.executeRaw(plain(`RELEASE SAVEPOINT ${name}`));
  }

  private refusal() {
    return new DriverAdapterError({
      kind: 'postgres',
      code: '25P02',
      originalCode: '25P02',
      severity: 'ERROR',
      message: ABORTED,
      originalMessage: ABORTED,
      detail: undefined,
      column: undefined,
      hint: undefined,
    });
  }
}

class Connection extends Statements implements SqlDriverAdapter {
  constructor(
    private readonly adapter: SqlDriverAdapter,
    driver: Driver,
  ) {
    super(adapter, driver);
  }

  async executeScript(script: string): Promise<void> {
    this.driver.onStatement?.();
    await this.driver.script(script);
  }

  async startTransaction(isolation?: IsolationLevel): Promise<Transaction> {
    this.driver.onStatement?.();
    if (isolation) this.driver.onStatement?.();
    const begin = this.driver.begin ?? ((level) => this.adapter.startTransaction(level));
    return new SafeTransaction(await begin(isolation), this.driver);
  }

  getConnectionInfo() {
    return this.adapter.getConnectionInfo?.() ?? { supportsRelationJoins: true };
  }

  dispose(): Promise<void> {
    return this.adapter.dispose();
  }
}

/** Wraps a driver's adapter so that statements are counted and its known faults are mended. */
export function withFixes(factory: SqlMigrationAwareDriverAdapterFactory, driver: Driver): SqlMigrationAwareDriverAdapterFactory {
  return {
    provider: 'postgres',
    adapterName: factory.adapterName,
    connect: async () => new Connection(await factory.connect(), driver),
    connectToShadowDb: async () => new Connection(await factory.connectToShadowDb(), driver),
  };
}
