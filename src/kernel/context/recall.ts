import { type Sql, sql } from '../database/sql.js';
import type { Context } from './context.js';
import type { Versioned } from './memory.js';
import { perContext } from './perContext.js';

interface Source<T> {
  /** Selects the version that it has now. */
  version: Sql;
  read(): Promise<T | null>;
}

/** What was asked for in a unit of work, which goes by one answer as long as it changes nothing of it. */
const askedIn = perContext(() => new Map<string, Promise<Versioned | null>>());

/**
 * What seldom changes, and is asked for by many writes: an optimistic one goes by what this process read last, and its write makes sure
 * that it has this version still, or else it is tried again; all others read it.
 */
export function recall<T extends Versioned>(ctx: Context, name: string, source: Source<T>): Promise<T | null> {
  if (!ctx.unit) return source.read();
  if (!ctx.unit.canReadUnlocked(source.version.text)) return readNow(ctx, keyOf(ctx, name), source);
  const inUnit = askedIn(ctx);
  const answer = inUnit.get(name) ?? recalledOrRead(ctx, name, source);
  inUnit.set(name, answer);
  return answer as Promise<T | null>;
}

const keyOf = ({ caller }: Context, name: string) => `${caller.account.id} ${name}`;

async function recalledOrRead<T extends Versioned>(ctx: Context, name: string, source: Source<T>): Promise<T | null> {
  const key = keyOf(ctx, name);
  const known = ctx.app.recalled.get(key) as T | undefined;
  if (!known) return readNow(ctx, key, source);
  ctx.unit!.readsMayBeStale = true;
  // It is looked at, and not locked.
  const now = sql`select 1 from (select ${source.version} as now) v where v.now = ${known.version}`;
  ctx.requireRow(`${name} of ${known.version}`, now, 'shared');
  return known;
}

async function readNow<T extends Versioned>({ app: { recalled }, unit }: Context, key: string, { read }: Source<T>): Promise<T | null> {
  const found = await read();
  // What a transaction sees may be its own change, which it can change again without another version.
  if (found && !unit!.isOpen) recalled.set(key, found);
  else if (recalled.peek(key)?.version !== found?.version) recalled.delete(key);
  return found;
}
