import type { App, Context, FeedReader } from '../../src/kernel/context/context.js';
import { sql } from '../../src/kernel/database/sql.js';
import type { FeedEvent } from '../../src/kernel/events/feedStore.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { FeedReaders } from '../../src/workers/feedReaders.js';
import type { TestServer } from './server.js';

/** Makes a tag of each event, called by its place and name. */
export const tagging = (names: string[], before: (events: readonly FeedEvent[]) => void = () => undefined): FeedReader => ({
  wanted: () => sql`select unnest(string_to_array(${names.join()}, ','))`,
  make: async (ctx, events) => {
    before(events);
    for (const { id, name } of events) ctx.insert('Tag', { name: `${id} ${name}`, color: '#000000' });
    return events.length;
  },
});

/** What such a reader made. */
export const made = async (ctx: Context): Promise<string[]> => {
  const tags = await ctx.db.tag.findMany({ where: {} });
  return tags.map(({ name }) => name).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
};

/** An account whose feed a reader of this name reads from here on, and as many workers for it. */
export async function reading(crm: TestServer, name: string, reader: FeedReader, workers = 1) {
  const account = await crm.seed.account();
  const app: App = { ...crm.app, registry: { ...crm.app.registry, readers: new Map([[name, reader]]) } };
  const ctx = await actingForAccount(app, account.id);
  const running = Array.from({ length: workers }, () => new FeedReaders());
  for (const each of running) each.start(app);
  const placed = () => {
    for (const each of running) each.placed([account.id]);
  };
  const stop = () => Promise.all(running.map((each) => each.stop()));
  return { app, ctx: ctx!, placed, stop, account };
}
