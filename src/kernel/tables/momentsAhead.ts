import { EventLoopQueue, YieldTimer } from '../base/eventLoop.js';
import type { Context } from '../context/context.js';
import { isFoundMoment, momentsKept } from './dateRanges.js';
import { dated } from './filterValues.js';

/** So many moments are found as the condition is made, in a few milliseconds. */
const few = 100;

/** The documents and requests that find moments take turns: each holds the event loop for one portion. */
const eventLoop = new EventLoopQueue();

const likeDay = /^\s*\d{4}-\d\d-\d\d/;

/** So deep no filter is that is taken, nor has so many moments: the rest is left to whoever reads it, and refuses it. */
const most = { levels: 100, texts: 80_000 };

/** The texts in the JSON of a filter that may be moments. */
function textsIn(filter: unknown, found: string[] = [], depth = 0): string[] {
  if (typeof filter === 'string' && likeDay.test(filter)) found.push(filter);
  if (typeof filter !== 'object' || filter === null || depth > most.levels) return found;
  for (const member of Object.values(filter)) if (found.length < most.texts) textsIn(member, found, depth + 1);
  return found;
}

/**
 * Finds which instants the days and moments of a filter are before its SQL is made, which takes none of these turns: the clocks of a time
 * zone are slow to ask, and a filter may hold tens of thousands. Nothing is waited for where they are few.
 */
export function findMoments(ctx: Context, filter: unknown): Promise<void> | undefined {
  const texts = textsIn(filter);
  return texts.length > few ? find(ctx, texts) : undefined;
}

async function find(ctx: Context, texts: readonly string[]): Promise<void> {
  await eventLoop.next();
  const note = momentsKept(ctx, texts.length);
  let timer = new YieldTimer();
  for (const text of texts) {
    const moment = isFoundMoment(text, ctx) ? undefined : dated(text);
    if (moment !== undefined) note(moment);
    if (!timer.isDue) continue;
    await eventLoop.next();
    timer = new YieldTimer();
  }
}
