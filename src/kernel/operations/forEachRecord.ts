import { AppError } from '../base/errors.js';
import { nextTurn } from '../base/eventLoop.js';
import { jsonSize } from '../base/jsonText.js';
import { Context } from '../context/context.js';
import { fromDatabase, isRetryable, mayRetry } from '../database/errors.js';
import { TooLargeTogether } from '../writes/readBound.js';
import { readProgress, saveProgress } from './detached.js';

/** What came of one of many: what was done answered, or why it was not done. */
export interface Outcome<T, R> {
  item: T;
  value?: R;
  error?: AppError;
}

/** What is done to many records, each by itself. */
interface Plan<T, R> {
  /** Does it to one. It shares a transaction with others, and its loaders with them: so what all of them read is read once. */
  work(inside: Context, item: T): Promise<R>;
  /** What an item touches, where others may touch it too: those come one after the other, in their order. */
  touches?(item: T): string[];
  /** What is equal for items whose changes can be written by one clause. */
  alike?(item: T): string;
  /** What is changed of each, where the items do not say it themselves. */
  changes?: object;
  /** What must hold before each transaction's work; an error here ends everything. */
  begin?(inside: Context): Promise<void>;
  /** What the changes are told as part of; a batch of their own by default. */
  batchId?: string;
  /** What is kept of those that were done, in their transaction. */
  settle?(inside: Context, done: Outcome<T, R>[]): Promise<void>;
  /** What a retry under an `Idempotency-Key` has to know of the items, where a look for them would not find the same: see `itemsNoted`. */
  noted?: readonly unknown[];
}

/** What is noted under an `Idempotency-Key` of many items: which of them are done, by their places. */
interface Notes {
  items?: readonly unknown[];
  done: number[];
}

/** The items that a request under this `Idempotency-Key` has begun with before (`readProgress`); undefined where none has come so far. */
export const itemsNoted = <T>(ctx: Context): readonly T[] | undefined => readProgress<Notes>(ctx)?.items as readonly T[] | undefined;

/** Items that share a transaction: few enough for it to be short. */
const together = 100;
/**
 * Characters of changes that share a transaction, as JSON, and of the records that they are made to: nobody else has a turn while it works
 * on them, and one statement may write most of it. An item that has more goes alone.
 */
const mostChanged = 100_000;
const mostRead = 500_000;

/**
 * Does the same to many records so that one's failure is never another's: all that go well share a transaction, and its
 * statements; an item at fault leaves nothing behind, and the rest is done without it. Errors of the server are thrown. Under an
 * `Idempotency-Key` a retry does those that were not done: it is noted with them that they are.
 */
export async function forEachRecord<T, R>(ctx: Context, items: readonly T[], plan: Plan<T, R>): Promise<Outcome<T, R>[]> {
  const places = new Map<Indexed<T>, Outcome<T, R>>();
  const all = items.map((item, nth) => ({ item, nth }));
  const request = { ...ctx.request, batchId: plan.batchId ?? ctx.app.clock.id() };
  const batch = new Context(ctx.app, request, ctx.principal);
  const done = new Set(readProgress<Notes>(ctx)?.done);
  for (const nth of done) places.set(all[nth]!, { item: all[nth]!.item });
  const left = all.filter(({ nth }) => !done.has(nth));
  const underWay = { ...plan, done, most: together };
  for (const round of roundsOf(left, plan)) {
    const { alike } = plan;
    if (alike) round.sort((a, b) => (alike(a.item) < alike(b.item) ? -1 : 1));
    for (const [place, outcome] of await attempt(batch, round, underWay)) places.set(place, outcome);
    // The embedded database answers within the turn: without this, other requests would starve until the last round.
    await nextTurn();
  }
  return all.map((place) => places.get(place)!);
}

/** An item with its place among all: the same may be given twice. */
interface Indexed<T> {
  item: T;
  nth: number;
}

/** A plan under way. */
type UnderWay<T, R> = Plan<T, R> & {
  /** The places of those that are done for good. */
  done: Set<number>;
  /** How many may share a transaction: fewer, once some have turned out to be too large together. */
  most: number;
};
type Outcomes<T, R> = [Indexed<T>, Outcome<T, R>][];

interface Round<T> {
  places: Indexed<T>[];
  /** About how many characters its changes take as JSON. */
  size: number;
}

/** Who touches the same as an earlier one comes in a later round. */
function roundsOf<T, R>(places: Indexed<T>[], { touches = () => [], changes }: Plan<T, R>): Indexed<T>[][] {
  const rounds: Round<T>[] = [];
  const last = new Map<string, number>();
  const shared = changes ? jsonSize(changes) : 0;
  const isFull = (n: number, more: number) => {
    const round = rounds[n];
    return round !== undefined && (round.places.length >= together || round.size + more > mostChanged);
  };
  let open = 0;
  for (const place of places) {
    const touched = touches(place.item);
    const size = shared + jsonSize(place.item);
    const first = Math.max(open, ...touched.map((key) => (last.get(key) ?? -1) + 1));
    let n = first;
    while (isFull(n, size)) n++;
    // The others come after it, in the order in which they were given.
    if (first === open) open = n;
    rounds[n] ??= { places: [], size: 0 };
    rounds[n]!.places.push(place);
    rounds[n]!.size += size;
    for (const key of touched) last.set(key, n);
  }
  return rounds.map((round) => round.places);
}

/** Some could not be done: the transaction is taken back, and tried again without them. */
class SomeFailed<T, R> extends Error {
  constructor(readonly outcomes: Outcomes<T, R>) {
    super('some items failed');
  }
}

/** What was wrong with no item. */
class Ended extends Error {}

/** Has a refusal end everything, since it is of no item; faults of the database are for who tries again. */
const ending = (cause: unknown) => {
  throw cause instanceof AppError ? new Ended('', { cause }) : cause;
};

async function attempt<T, R>(ctx: Context, places: Indexed<T>[], plan: UnderWay<T, R>, nth = 1): Promise<Outcomes<T, R>> {
  if (places.length > plan.most) return inParts(ctx, places, plan);
  try {
    // One that is alone has to be done, however large it is.
    const kind = places.length > 1 ? { mostRead } : {};
    const outcomes = await ctx.transaction((inside) => pass(inside, places, plan), kind);
    for (const { nth } of places) plan.done.add(nth);
    return outcomes;
  } catch (error) {
    if (error instanceof Ended) throw error.cause;
    if (error instanceof SomeFailed) return withoutThem(ctx, error as SomeFailed<T, R>, plan);
    if (error instanceof TooLargeTogether) {
      // Those that follow are mostly as large.
      plan.most = Math.max(1, Math.floor(places.length / error.times));
      return inParts(ctx, places, plan);
    }
    if (await mayRetry(error, nth)) return attempt(ctx, places, plan, nth + 1);
    const known = fromDatabase(error);
    if (!known || known.status >= 500) throw known ?? error;
    const [place] = places;
    if (places.length === 1) return [[place!, { item: place!.item, error: known }]];
    // The database does not name the item at fault: bisect.
    const half = Math.ceil(places.length / 2);
    return [...(await attempt(ctx, places.slice(0, half), plan)), ...(await attempt(ctx, places.slice(half), plan))];
  }
}

async function inParts<T, R>(ctx: Context, places: Indexed<T>[], plan: UnderWay<T, R>): Promise<Outcomes<T, R>> {
  const outcomes: Outcomes<T, R> = [];
  for (let next = 0; next < places.length; ) {
    const part = places.slice(next, next + plan.most);
    next += part.length;
    outcomes.push(...(await attempt(ctx, part, plan)));
    await nextTurn();
  }
  return outcomes;
}

async function pass<T, R>(inside: Context, places: Indexed<T>[], plan: UnderWay<T, R>): Promise<Outcomes<T, R>> {
  await plan.begin?.(inside).catch((cause: unknown) => {
    throw new Ended('', { cause });
  });
  const one = async (place: Indexed<T>): Promise<{ place: Indexed<T>; outcome: Outcome<T, R>; fault?: unknown }> => {
    const { item } = place;
    try {
      return { place, outcome: { item, value: await plan.work(inside, item) } };
    } catch (fault) {
      return fault instanceof AppError ? { place, outcome: { item, error: fault } } : { place, outcome: { item }, fault };
    }
  };
  const results = await Promise.all(places.map(one));
  const faults = results.flatMap(({ fault }) => (fault === undefined ? [] : [fault]));
  // After one failed statement the others of its transaction fail too, and their errors say nothing.
  if (faults.length > 0) throw faults.find((fault) => isRetryable(fault) || fromDatabase(fault)) ?? faults[0];
  const outcomes: Outcomes<T, R> = results.map(({ place, outcome }) => [place, outcome]);
  if (outcomes.some(([, { error }]) => error)) throw new SomeFailed(outcomes);
  await plan.settle?.(
    inside,
    outcomes.map(([, outcome]) => outcome),
  );
  // Refused where another request goes on with them.
  await saveProgress(inside, { items: plan.noted, done: [...plan.done, ...places.map(({ nth }) => nth)] } satisfies Notes).catch(ending);
  return outcomes;
}

async function withoutThem<T, R>(ctx: Context, { outcomes }: SomeFailed<T, R>, plan: UnderWay<T, R>): Promise<Outcomes<T, R>> {
  const failed = outcomes.filter(([, { error }]) => error);
  const server = failed.find(([, { error }]) => error!.status >= 500);
  if (server) throw server[1].error;
  const rest = outcomes.flatMap(([place, { error }]) => (error ? [] : [place]));
  return [...failed, ...(rest.length > 0 ? await attempt(ctx, rest, plan) : [])];
}
