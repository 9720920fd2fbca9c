import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { integer, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { shown } from '../../kernel/events/feedStore.js';
import { endOfFeed, eventsAfter, type FeedEnd } from '../../kernel/events/readers.js';
import { recordExists } from '../../kernel/lists/nodes.js';
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
  const [end] = await ctx.rows(endOfFeed, { names: [event], except: [] });
  const isGone = way === 'record' && !patience && !(await recordExists(ctx, ctx.app.registry.events.get(event)!.of.type, run.entityId!));
  return isGone ? recordIsGone(event) : end!;
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

/** Events that are read at once. */
const page = 50;

/** What became of a wait after it began, by all events that have their places by now, whether the reader has read them or not. */
export async function sinceBeginning(ctx: Context, { id, waitEvent, waitingAfter }: RunRow): Promise<Outcome | undefined> {
  const names = [waitEvent!, deletionOf(waitEvent!)];
  for (let after = waitingAfter!; ; ) {
    const found = await ctx.rows(eventsAfter, { names, after, most: page });
    const events = found.map(({ event }) => shown(ctx.app, event));
    const [outcome] = await outcomesOf(ctx, events, id);
    if (outcome || events.length < page) return outcome;
    after = events.at(-1)!.id;
  }
}
