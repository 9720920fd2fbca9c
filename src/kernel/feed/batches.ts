import type { FeedEvent } from '../events/feedStore.js';

/** What is told together of one batch. */
export interface Together {
  id: string;
  count: number;
  names: string[];
  entityIds: string[];
}

/** An event, or the last of some that are told together. */
export interface ToldEvent extends FeedEvent {
  batch?: Together;
}

/**
 * Events that follow each other and belong to one batch as one: the last of them, with what all of them are. One that a single person may
 * see joins no others.
 */
export function asBatches(events: readonly FeedEvent[]): ToldEvent[] {
  const runs: FeedEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    const joins = last && event.batchId !== null && last[0]!.batchId === event.batchId && last[0]!.onlyFor === event.onlyFor;
    if (joins) last.push(event);
    else runs.push([event]);
  }
  return runs.map((run) => ({ ...run.at(-1)!, ...(run[0]!.batchId !== null && { batch: together(run) }) }));
}

const together = (run: readonly FeedEvent[]): Together => ({
  id: run[0]!.batchId!,
  count: new Set(run.map(({ changeId }) => changeId)).size,
  names: [...new Set(run.flatMap(({ names }) => names))],
  entityIds: [...new Set(run.map(({ entityId }) => entityId))],
});
