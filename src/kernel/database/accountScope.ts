import { Prisma } from '../../generated/prisma/client.js';
import type { Clock } from '../base/clock.js';

export type Transaction = Prisma.TransactionClient;
type RawQueries = '$queryRaw' | '$queryRawUnsafe' | '$executeRaw' | '$executeRawUnsafe';

/**
 * Prisma without its raw queries: hand-written SQL goes through `ctx.rows`, whose statements a test holds to the account, or is composed
 * for `ctx.select`, `text`, `planned` or `lookup`, and then names the account itself.
 */
export type Models = Omit<Transaction, RawQueries>;
/** Prisma held to one account. Reads see live rows; `withDeleted` sees the others too. */
export type ScopedModels = Models & { withDeleted: Models };

interface Shape {
  tenant: boolean;
  softDelete: boolean;
  caused: boolean;
  stamps: ('id' | 'createdAt' | 'updatedAt')[];
}

const shapes = new Map<string, Shape>();

function shapeOf(delegate: string): Shape | undefined {
  const known = shapes.get(delegate);
  if (known) return known;
  const model = `${delegate.charAt(0).toUpperCase()}${delegate.slice(1)}`;
  const fields = (Prisma as unknown as Record<string, Record<string, string> | undefined>)[`${model}ScalarFieldEnum`];
  if (!fields) return undefined;
  const stamps = (['id', 'createdAt', 'updatedAt'] as const).filter((name) => name in fields);
  const shape = { tenant: 'accountId' in fields, softDelete: 'deletedAt' in fields, caused: 'causes' in fields, stamps };
  shapes.set(delegate, shape);
  return shape;
}

type Args = Record<string, unknown> & { data?: unknown; where?: Record<string, unknown>; create?: object; update?: object };

/** Adds account, id and times to what is written, account and "not deleted" to what is looked for. */
class Scope {
  constructor(
    readonly accountId: string | null,
    readonly clock: Clock,
    readonly withDeleted: boolean,
  ) {}

  apply(shape: Shape, operation: string, args: Args = {}): Args {
    if (operation.startsWith('create')) return { ...args, data: this.#writes(shape, args.data) };
    const scoped: Args = { ...args, where: this.#where(shape, args.where) };
    if (operation === 'upsert') {
      scoped.create = this.created(shape, args.create);
      scoped.update = this.#updated(shape, args.update);
    } else if (operation.startsWith('update')) scoped.data = this.#updated(shape, args.data as object);
    return scoped;
  }

  #where(shape: Shape, where: Record<string, unknown> = {}) {
    const scoped = { ...where };
    if (shape.tenant && this.accountId) scoped.accountId = this.accountId;
    if (shape.softDelete && !this.withDeleted && !('deletedAt' in where)) scoped.deletedAt = null;
    return scoped;
  }

  #writes(shape: Shape, data: unknown): unknown {
    return Array.isArray(data) ? data.map((row) => this.created(shape, row)) : this.created(shape, data);
  }

  created(shape: Shape, data: unknown): Record<string, unknown> {
    const now = this.clock.now();
    // A copy of one object is a fraction of what two that are put together cost.
    const row: Record<string, unknown> = { ...(data as object) };
    for (const stamp of shape.stamps) row[stamp] ??= stamp === 'id' ? this.clock.id() : now;
    if (shape.tenant && this.accountId) row.accountId = this.accountId;
    return row;
  }

  #updated(shape: Shape, data: object | undefined): object {
    return shape.stamps.includes('updatedAt') ? { updatedAt: this.clock.now(), ...data } : { ...data };
  }
}

/** The client of the moment: the plain one, or the transaction of a unit of work, which begins when it is first asked for. */
export type Connect = () => Transaction | Promise<Transaction>;

function modelsIn(connect: Connect, scope: Scope): Models {
  const delegates = new Map<string, object>();
  return new Proxy({} as Models, {
    get(_target, name) {
      if (typeof name !== 'string') return undefined;
      const known = delegates.get(name);
      if (known) return known;
      if (name === 'withDeleted') return modelsIn(connect, new Scope(scope.accountId, scope.clock, true));
      const shape = shapeOf(name);
      if (!shape) return undefined;
      const delegate = scopedDelegate(connect, name, shape, scope);
      delegates.set(name, delegate);
      return delegate;
    },
  });
}

type Delegates = Record<string, Record<string, (args: Args) => unknown>>;

const scopedDelegate = (connect: Connect, model: string, shape: Shape, scope: Scope) =>
  new Proxy(
    {},
    {
      get: (_target, operation: string) => async (args?: Args) => {
        const client = (await connect()) as unknown as Delegates;
        return client[model]?.[operation]?.(scope.apply(shape, operation, args));
      },
    },
  );

/** Prisma held to one account: the wall between tenants above the one that the composite keys make. */
export const scopedModels = (connect: Connect, accountId: string, clock: Clock) =>
  modelsIn(connect, new Scope(accountId, clock, false)) as ScopedModels;

/** A new row of a model as it will be kept: with the account, an id and its times. */
export function newRow(model: string, row: Record<string, unknown>, accountId: string, clock: Clock): Record<string, unknown> {
  const shape = shapeOf(model);
  if (!shape) throw new Error(`No model is called ${model}`);
  return new Scope(accountId, clock, false).created(shape, row);
}

/** Whether the rows of a model keep the runs behind them. */
export const isCaused = (model: string): boolean => shapeOf(model)?.caused ?? false;

/** Whether a model keeps when its rows were last changed. */
export const isStamped = (model: string): boolean => shapeOf(model)?.stamps.includes('updatedAt') ?? false;

/** Prisma across accounts, for what is looked up before an account is known (users, sessions, keys by hash). */
export const globalModels = (connect: Connect, clock: Clock) => modelsIn(connect, new Scope(null, clock, false));
