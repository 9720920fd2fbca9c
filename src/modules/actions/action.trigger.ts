import { mayUse } from '../../kernel/access/access.js';
import { check, denied } from '../../kernel/base/errors.js';
import { YieldTimer } from '../../kernel/base/eventLoop.js';
import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import { type FeedEnd, isBehind, Portion, type ReadEvent } from '../../kernel/events/readers.js';
import { type Evaluation, type Matcher, matcherOf } from '../../kernel/matching/matcher.js';

/** Whether an event may start a run, or end a wait: every event of the system but those of runs (`startsNothing`). */
export const isTrigger = ({ app }: Context, name: string): boolean => {
  const event = app.registry.events.get(name);
  return event !== undefined && !event.startsNothing;
};

/**
 * Throws 403 for an event that is not for the role or the tier of the caller, to whom runs would show it. A key's scopes are not asked for:
 * a key for workflows alone makes workflows on everything, and what their runs say of people is hidden from it.
 */
export function checkMayName({ app, caller }: Context, name: string): void {
  const { scope: _scope, ...access } = app.registry.events.get(name)!.access;
  const { role = 'member' } = access;
  check(mayUse(caller, access), () =>
    denied(caller.kind === 'key' ? `This API key may not see ${name}` : `${name} needs the role ${role}`),
  );
}

/** The runs that may lead to one; where so many did, the next one is not begun. */
const longestChain = 10;

/** Whether a run of a workflow or an automation would be one of a circle, or of a chain that is too long. */
export const isLoop = (causes: readonly Cause[], { kind, id }: Pick<Cause, 'kind' | 'id'>): boolean =>
  causes.length >= longestChain || causes.some((cause) => cause.kind === kind && cause.id === id);

/** Evaluates conditions that stand at a place over an event. */
export type Evaluator = (event: FeedEvent, conditions: unknown) => Evaluation;

/**
 * What the conditions that stand at a place see of events: they are read once for each type of record. Those that can no longer be
 * read do not hold.
 */
export function evaluator(ctx: Context, at: string): Evaluator {
  const unread: Pick<Matcher, 'evaluate'> = { evaluate: () => ({ holds: false, conditions: [] }) };
  const byType = new Map<string, Map<unknown, typeof unread>>();
  const orNone = <T>(work: () => T, event: string, none: T): T => {
    try {
      return work();
    } catch (error) {
      ctx.app.log.warn({ err: error, event, at }, 'conditions can no longer be read, so they do not hold');
      return none;
    }
  };
  return (event, conditions) => {
    const { type, name } = event;
    const known = byType.get(type) ?? new Map<unknown, typeof unread>();
    byType.set(type, known);
    const read = known.get(conditions) ?? orNone<typeof unread>(() => matcherOf(ctx, type, conditions, at), name, unread);
    known.set(conditions, read);
    return orNone(() => read.evaluate(event), name, unread.evaluate(event));
  };
}

/** What the conditions that stand at a place see of one event. Conditions that can no longer be read do not hold. */
export const evaluationOf = (ctx: Context, event: FeedEvent, conditions: unknown, at: string): Evaluation =>
  evaluator(ctx, at)(event, conditions);

/** What a run is begun by: an event after a place of the feed, whose conditions hold. */
interface Starter extends FeedEnd {
  event: string;
  conditions: unknown;
}

/** A run that is to be begun. */
export interface Begun<S> {
  event: ReadEvent;
  starter: S;
  evaluation: Evaluation;
}

interface Starting<S> {
  /** Where the conditions stand. */
  at: string;
  /** Bytes that stand in a run besides the event. */
  bytesOf?: (starter: S) => number;
}

/** The runs that events begin, of so many of them as are for one step. */
export async function begunBy<S extends Starter>(
  ctx: Context,
  events: readonly ReadEvent[],
  starters: readonly S[],
  { at, bytesOf = () => 0 }: Starting<S>,
): Promise<{ begun: Begun<S>[]; seen: number }> {
  const evaluate = evaluator(ctx, at);
  const portion = new Portion();
  const timer = new YieldTimer();
  const begun: Begun<S>[] = [];
  for (const [seen, event] of events.entries()) {
    const its: Begun<S>[] = [];
    for (const starter of starters) {
      if (starter.event !== event.name || !isBehind(event, starter)) continue;
      if (timer.isDue) await timer.take();
      const evaluation = evaluate(event, starter.conditions);
      if (evaluation.holds) its.push({ event, starter, evaluation });
    }
    const besides = its.reduce((sum, { starter }) => sum + bytesOf(starter), 0);
    if (!portion.takes(event, its.length, besides)) return { begun, seen };
    begun.push(...its);
  }
  return { begun, seen: events.length };
}
