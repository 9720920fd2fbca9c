import { elapsed } from '../../kernel/base/clock.js';
import { minuteMs, secondMs } from '../../kernel/base/durations.js';
import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { integer, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { shown } from '../../kernel/events/feedStore.js';
import { eventsAfter, type FeedEnd, readSoFar } from '../../kernel/events/readers.js';
import { recordExists } from '../../kernel/lists/nodes.js';
import { feedEnd } from '../../kernel/operations/feedEnd.js';
import type { Wait } from './automation.wait.js';
import { recordIsGone } from './run.end.js';
import type { RunRow } from './run.table.js';
import { deletionOf, type Outcome, outcomesOf } from './run.waits.js';
import { wayOf } from './run.ways.js';

/**
 * A wait for an event begins in two steps. First it is committed, after the end of the feed as it was then, due at once and still held by
 * whoever works on the run: from here on the reader knows of it. Then the feed is searched for events that got their places after that
 * end, whether the reader has passed them or not. The reader reads every later event when the wait is already there for it to find. So no
 * event is missed, and neither ever waits for the other.
 */

/** The end of the feed that a wait begins after, or why it would never end. */
export async function beginningOf(ctx: Context, run: RunRow, wait: Extract<Wait, { event: string }>): Promise<FeedEnd | string> {
  const { event, patience } = wait;
  const way = wayOf(ctx, run, event);
  if (!way && !patience)
    return `${event} is about nothing that the run is about, neither its record nor its contact: without a timeout the wait would never end`;
  // Before the record is looked for: what becomes of it later has a later place.
  const end = await feedEnd(ctx, [event]);
  const isGone = way === 'record' && !patience && !(await recordExists(ctx, ctx.app.registry.events.get(event)!.of.type, run.entityId!));
  return isGone ? recordIsGone(event) : end;
}

const rested = statement({
  name: 'restBegunWait',
  takes: { id: uuid, attempt: integer },
  row: { id: uuid },
  changes: true,
  text: ({ account, id, attempt }) => sql`
    update automation_runs r set due_at = r.wait_until, leased_until = null, attempt = r.attempt + 1, state = '{"rested": true}'
    where r.account_id = ${account} and r.id = ${id} and r.attempt = ${attempt} and r.status = 'waiting' and r.wait_event is not null
      and not exists (select from feed_positions p where p.account_id = ${account} and p.pos > r.waiting_after::bigint and p.name <> ''
        and p.name in (r.wait_event, split_part(r.wait_event, '.', 1) || '.deleted'))
      and not automation_is_deleted(r.account_id, r.automation_id)
    returning r.id`,
});

/** Lets a run rest whose wait has begun; false where an event that came meanwhile may end the wait, or the automation was deleted. */
export const rests = async (ctx: Context, { id, attempt }: DueRow): Promise<boolean> =>
  (await ctx.rows(rested, { id, attempt })).length > 0;

/** How long what happened may take to get its place in the feed. */
const placingMs = secondMs;
/** How long after its time a wait is left to a reader that is far behind, and the longest pause between two looks. */
const [patienceMs, longestRestMs] = [5 * minuteMs, minuteMs];

/** Events that are read at once. */
const page = 50;

/**
 * What became of a wait by all events after a place that have theirs by now, whether the reader has read them or not. Where the time of
 * the wait is out, those are enough that happened before.
 */
async function since(ctx: Context, { id, waitEvent, waitUntil }: RunRow, place: string): Promise<Outcome | undefined> {
  const names = [waitEvent!, deletionOf(waitEvent!)];
  for (let after = place; ; ) {
    const found = await ctx.rows(eventsAfter, { names, after, most: page });
    const events = found.map(({ event }) => shown(ctx.app, event));
    const [outcome] = await outcomesOf(ctx, events, id);
    const isLate = waitUntil !== null && events.every(({ createdAt }) => createdAt > waitUntil);
    if (outcome || events.length < page || isLate) return outcome;
    after = events.at(-1)!.id;
  }
}

/** How far a wait for an event is by the feed. */
interface Seen {
  /** What became of it; undefined where nothing did. */
  outcome?: Outcome;
  /** Milliseconds after which to look again: what may end it happened in time, and is still to come. */
  restMs?: number;
}

/**
 * What the feed says of a wait for an event that has just begun, or whose time is out: the reader may not have come to what happened in
 * time, as where no server worked meanwhile. Where the wait has rested, what the reader has read is not read again.
 */
export async function seenInFeed(ctx: Context, run: RunRow, { isBegun, isOut }: { isBegun: boolean; isOut: boolean }): Promise<Seen> {
  const { waitEvent, waitingAfter, waitUntil } = run;
  if (!isOut) return isBegun ? { outcome: await since(ctx, run, waitingAfter!) } : {};
  // Before the feed is searched: what gets its place in between is found there.
  const asked = { reader: 'automations', event: waitEvent!, after: waitingAfter ?? '0', until: waitUntil! };
  const [read] = await ctx.rows(readSoFar, asked);
  if (read!.isComing) return { restMs: placingMs };
  // A reader that is far behind comes to it with less work than this run has with all of it; one that stands still is not waited for.
  const overMs = elapsed(waitUntil!, ctx.now());
  if (read!.isFar && overMs < patienceMs) return { restMs: Math.min(Math.max(overMs, placingMs), longestRestMs) };
  return { outcome: await since(ctx, run, isBegun ? waitingAfter! : read!.after) };
}
