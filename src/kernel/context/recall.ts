import { type Sql, sql } from '../database/sql.js';
import type { Versioned } from '../reads/memory.js';
import type { Context } from './context.js';

interface Source<T> {
  /** Selects the version that it has now. */
  version: Sql;
  read(): Promise<T | null>;
}

/** What was asked for in a unit of work, which goes by one answer. */
const asked = new WeakMap<Context, Map<string, Promise<Versioned | null>>>();

/**
 * What seldom changes, and is asked for by many writes: an optimistic one goes by what this process read last, and its write makes sure
 * that it has this version still, or else it is tried again; all others read it.
 */
export function recall<T extends Versioned>(ctx: Context, name: string, source: Source<T>): Promise<T | null> {
  if (!ctx.unit) return source.read();
  const inUnit = asked.get(ctx) ?? new Map<string, Promise<Versioned | null>>();
  asked.set(ctx, inUnit);
  const answer = inUnit.get(name) ?? recalledOrRead(ctx, name, source);
  inUnit.set(name, answer);
  return answer as Promise<T | null>;
}

async function recalledOrRead<T extends Versioned>(ctx: Context, name: string, { version, read }: Source<T>): Promise<T | null> {
  const { recalled } = ctx.app;
  const key = `${ctx.caller.account.id} ${name}`;
  const known = ctx.unit?.isOptimistic && !ctx.unit.isOpen ? (recalled.get(key) as T | undefined) : undefined;
  if (known) {
    ctx.unit!.isUnsure = true;
    ctx.requireRow(`${name} of ${known.version}`, sql`select 1 from (select ${version} as now) v where v.now = ${known.version}`);
    return known;
  }
  const found = await read();
  if (found) recalled.set(key, found);
  else recalled.delete(key);
  return found;
}
