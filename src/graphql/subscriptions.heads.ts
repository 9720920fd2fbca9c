import { nextTurn } from '../kernel/base/eventLoop.js';
import type { App } from '../kernel/context/context.js';
import { headsOf, isSetBack } from '../kernel/events/feedStore.js';
import type { AccountFeed } from './subscriptions.feed.js';

/** So many accounts does a line of the log name. */
const mostNamed = 20;

/** Looks where feeds end: wakes those that have grown, and begins anew those that were set back. */
export async function lookAtHeads({ database, log }: Pick<App, 'database' | 'log'>, feeds: readonly AccountFeed[]): Promise<void> {
  // How far they are before it is looked: they may go on while the database answers.
  const known = new Map(feeds.map((feed) => [feed.account, { feed, reached: feed.reached }]));
  const setBack: { feed: AccountFeed; head: string }[] = [];
  const before = [...known.values()].map(({ reached }) => reached);
  for (const seen of await headsOf(database, before)) {
    const { feed, reached } = known.get(seen.account)!;
    if (isSetBack(reached, seen)) setBack.push({ feed, head: seen.head });
    else feed.seen(reached, seen);
  }
  if (setBack.length === 0) return;
  const accounts = setBack.slice(0, mostNamed).map(({ feed }) => feed.account);
  log.warn({ feeds: setBack.length, accounts }, 'the database has lost the last events of feeds, and gives their positions to others');
  // Who is about to begin has begun by then, and can be ended.
  await nextTurn();
  for (const { feed, head } of setBack) feed.restart(head);
}
