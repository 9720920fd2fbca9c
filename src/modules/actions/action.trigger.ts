import type { Cause } from '../../kernel/base/principal.js';
import type { Context } from '../../kernel/context/context.js';
import type { FeedEvent } from '../../kernel/events/feedStore.js';
import { type Evaluation, readConditions } from '../../kernel/lists/conditions.js';

/** The runs that may lead to one; where so many did, the next one is not begun. */
const longestChain = 10;

/** Whether a run of a workflow or an automation would be one of a circle, or of a chain that is too long. */
export const isLoop = (causes: readonly Cause[], { kind, id }: Pick<Cause, 'kind' | 'id'>): boolean =>
  causes.length >= longestChain || causes.some((cause) => cause.kind === kind && cause.id === id);

/** What the conditions that stand at a place see of an event. Those that can no longer be read do not hold. */
export function evaluationOf(ctx: Context, event: FeedEvent, conditions: unknown, at: string): Evaluation {
  try {
    return readConditions(ctx, event.type, conditions, at).evaluate(event);
  } catch (error) {
    ctx.app.log.warn({ err: error, event: event.name, at }, 'conditions can no longer be read, so they do not hold');
    return { holds: false, conditions: [] };
  }
}
