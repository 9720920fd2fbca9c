import { type Sql, sql } from '../database/sql.js';
import type { Context } from './context.js';
import type { Versioned } from './memory.js';
import { perContext } from './perContext.js';

interface Source<T> {
  /** Selects the version that it has now. */
  version: Sql;
  read(): Promise<T | null>;
  /** Of what nobody may change any more before the unit of work has ended; without it, its version is only looked at. */
  held?: {
    /** Holds it from here to the end, before it is read. */
    hold(): Promise<unknown>;
    /**
     * Selects a row where it has this version still, once it is held. By a function that does both: all else in the text of a write sees
     * what was there before it waited.
     */
    still(version: string): Sql;
  };
}

/** What was asked for in a unit of work, which goes by one answer as long as it changes nothing of it. */
const askedIn = perContext(() => new Map<string, Promise<Versioned | null>>());

/** What a unit of work holds, each by its name once. */
const heldIn = perContext(() => new Map<string, Promise<unknown>>());

/**
 * What seldom changes, and is asked for by many writes: an optimistic one goes by what this process read last, and its write makes sure
 * that it has this version still, or else it is tried again; all others read it, once they hold it where it is to be `held`.
 */
export function recall<T extends Versioned>(ctx: Context, name: string, source: Source<T>): Promise<T | null> {
  if (!ctx.unit) return source.read();
  if (!ctx.unit.canReadUnlocked(source.version.text))
    return source.held ? heldAndRead(ctx, name, source) : readNow(ctx, keyOf(ctx, name), source);
  const inUnit = askedIn(ctx);
  const answer = inUnit.get(name) ?? recalledOrRead(ctx, name, source);
  inUnit.set(name, answer);
  return answer as Promise<T | null>;
}

const keyOf = ({ caller }: Context, name: string) => `${caller.account.id} ${name}`;

async function heldAndRead<T extends Versioned>(ctx: Context, name: string, source: Source<T>): Promise<T | null> {
  const held = heldIn(ctx);
  const holding = held.get(name) ?? source.held!.hold();
  held.set(name, holding);
  await holding;
  return readNow(ctx, keyOf(ctx, name), source);
}

async function recalledOrRead<T extends Versioned>(ctx: Context, name: string, source: Source<T>): Promise<T | null> {
  const key = keyOf(ctx, name);
  const known = ctx.app.recalled.get(key) as T | undefined;
  const found = known ?? (await readNow(ctx, key, source));
  if (known) ctx.unit!.readsMayBeStale = true;
  // What was read just now may be another thing by the time it is held.
  if (found && (known || source.held)) requireStill(ctx, name, source, found);
  return found;
}

function requireStill(ctx: Context, name: string, source: Source<Versioned>, { version }: Versioned): void {
  // It is looked at, and not locked.
  const now = sql`select 1 from (select ${source.version} as now) v where v.now = ${version}`;
  ctx.requireRow(`${name} of ${version}`, source.held?.still(version) ?? now, 'shared');
}

async function readNow<T extends Versioned>({ app: { recalled }, unit }: Context, key: string, { read }: Source<T>): Promise<T | null> {
  const found = await read();
  // What a transaction sees may be its own change, which it can change again without another version.
  if (found && !unit!.isOpen) recalled.set(key, found);
  else if (recalled.peek(key)?.version !== found?.version) recalled.delete(key);
  return found;
}
