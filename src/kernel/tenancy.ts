import { Prisma } from '../generated/prisma/client.js';
import type { Clock } from './clock.js';

export type Transaction = Prisma.TransactionClient;
type RawDoors = '$queryRaw' | '$queryRawUnsafe' | '$executeRaw' | '$executeRawUnsafe';

/** Prisma without its raw doors: hand-written SQL goes through `ctx.query`, which always names the account. */
export type Models = Omit<Transaction, RawDoors>;
/** Prisma held to one account. Reads see live rows; `withDeleted` sees the others too. */
export type ScopedModels = Models & { withDeleted: Models };

interface Shape {
  tenant: boolean;
  softDelete: boolean;
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
  const shape = { tenant: 'accountId' in fields, softDelete: 'deletedAt' in fields, stamps };
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
    if (operation.startsWith('create')) return { ...args, data: this.#created(shape, args.data) };
    const scoped: Args = { ...args, where: this.#where(shape, args.where) };
    if (operation === 'upsert') {
      scoped.create = this.#created(shape, args.create) as object;
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

  #created(shape: Shape, data: unknown): unknown {
    if (Array.isArray(data)) return data.map((row) => this.#created(shape, row));
    const now = this.clock.now();
    const filled: Record<string, unknown> = {};
    for (const stamp of shape.stamps) filled[stamp] = stamp === 'id' ? this.clock.id() : now;
    const row = { ...filled, ...(data as object) };
    return shape.tenant && this.accountId ? { ...row, accountId: this.accountId } : row;
  }

  #updated(shape: Shape, data: object | undefined): object {
    return shape.stamps.includes('updatedAt') ? { updatedAt: this.clock.now(), ...data } : { ...data };
  }
}

function modelsIn(client: Transaction, scope: Scope): Models {
  const delegates = new Map<string, object>();
  return new Proxy(client, {
    get(target, name) {
      if (typeof name !== 'string') return undefined;
      const known = delegates.get(name);
      if (known) return known;
      if (name === 'withDeleted') return modelsIn(client, new Scope(scope.accountId, scope.clock, true));
      const shape = shapeOf(name);
      if (!shape) return undefined;
      const delegate = scopedDelegate((target as unknown as Record<string, object>)[name] as Delegate, shape, scope);
      delegates.set(name, delegate);
      return delegate;
    },
  });
}

type Delegate = Record<string, (args: Args) => unknown>;

const scopedDelegate = (delegate: Delegate, shape: Shape, scope: Scope) =>
  new Proxy(delegate, {
    get: (target, operation) => (args?: Args) => target[operation as string]?.(scope.apply(shape, operation as string, args)),
  });

/** Prisma held to one account: the wall between tenants above the one that the composite keys make. */
export const scopedModels = (client: Transaction, accountId: string, clock: Clock) =>
  modelsIn(client, new Scope(accountId, clock, false)) as ScopedModels;

/** Prisma across accounts, for what is looked up before an account is known (users, sessions, keys by hash). */
export const globalModels = (client: Transaction, clock: Clock) => modelsIn(client, new Scope(null, clock, false));
