import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { App, FeedReader } from '../../src/kernel/context/context.js';
import { sql } from '../../src/kernel/database/sql.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { FeedReaders, waitingForAll } from '../../src/workers/feedReaders.js';
import { sweep } from '../../src/workers/sweeps.js';
import { type Account, day, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { made, reading as readingOf, tagging } from '../support/readers.js';

let crm: TestServer;
let account: Account;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

/** The same for the account of this file. */
async function reading(name: string, reader: FeedReader, workers = 1) {
  const its = await readingOf(crm, name, reader, workers);
  account = its.account;
  return its;
}

describe('a reader of the feed', () => {
  it('is given what it wants from when the account is followed, each event once and in its place, by any number of workers', async () => {
    const { ctx, placed, stop } = await reading('test.once', tagging(['contact.created', 'contact.deleted']), 3);
    const first = await account.contact({ firstName: 'Before' });
    await eventually(async () => (await account.owner.get('/events')).body.data.data.length === 1);
    await ctx.follow('test.once');
    await account.owner.patch(`/contacts/${first.id}`, { firstName: 'After' });
    await account.owner.del(`/contacts/${first.id}`);
    const size = 150;
    for (let n = 0; n < size; n++) {
      await account.contact({ firstName: `C${n}` });
      placed();
    }
    await eventually(async () => {
      placed();
      return (await made(ctx)).length >= size + 1;
    });
    await stop();
    const expected = Array.from({ length: size }, (_, n) => `${n + 4} contact.created`);
    expect(await made(ctx)).toEqual(['3 contact.deleted', ...expected]);
  });

  it('is given an event again when what it made of it was taken back, and no later one before', async () => {
    const seen: string[] = [];
    let failures = 2;
    const failing = tagging(['*'], (events) => {
      seen.push(events.map(({ id }) => id).join());
      if (failures-- > 0) throw new Error('Something of this is wrong');
    });
    const { ctx, placed, stop } = await reading('test.fails', failing);
    await ctx.follow('test.fails');
    for (const firstName of ['A', 'B']) await account.contact({ firstName });
    await eventually(async () => (await account.owner.get('/events')).body.data.data.length === 2);
    await eventually(async () => {
      placed();
      return (await made(ctx)).length === 2;
    });
    await stop();
    expect(await made(ctx)).toEqual(['1 contact.created', '2 contact.created']);
    expect(seen.at(0)!.startsWith('1')).toBe(true);
    expect(seen.slice(-2)).toEqual(['1', '2']);
  });
});

describe('a reader that wants nothing of what happens', () => {
  it('is moved past what it does not want, without a transaction of its own', async () => {
    let given = 0;
    const wanting = { wanted: () => sql`select 'deal.won'`, make: async () => ++given };
    const { ctx, placed, stop } = await reading('test.past', wanting);
    await ctx.follow('test.past');
    for (const firstName of ['A', 'B', 'C']) await account.contact({ firstName });
    const isPast = async () => {
      const { rows } = await crm.app.database.execute('select pos::int from feed_readers where account_id = $1', [account.id]);
      return (rows as { pos: number }[])[0]!.pos === 3;
    };
    await eventually(async () => (await account.owner.get('/events')).body.data.data.length === 3);
    // It passes them once: each run sets it back first, which is not counted.
    const statements = await crm.statements(async () => {
      await crm.app.database.execute('update feed_readers set pos = 0 where account_id = $1', [account.id]);
      await eventually(() => {
        placed();
        return isPast();
      });
    });
    await stop();
    expect([given, statements]).toEqual([0, 0]);
  });
});

describe('what a reader has not read', () => {
  it('is not swept', async () => {
    const { ctx, placed, stop } = await reading('test.late', tagging(['contact.created']));
    await ctx.follow('test.late');
    await stop();
    await account.contact({ firstName: 'Kept' });
    const count = async () => (await account.owner.get('/events')).body.data.data.length;
    await eventually(async () => (await count()) === 1);
    crm.clock.advance(31 * day);
    await sweep(crm.app);
    expect(await ctx.global.outboxEvent.count({ where: { accountId: account.id } })).toBe(1);
    placed();
    const app: App = { ...crm.app, registry: { ...crm.app.registry, readers: new Map([['test.late', tagging(['contact.created'])]]) } };
    const again = new FeedReaders();
    again.start(app);
    await eventually(async () => (await made(ctx)).length === 1);
    await again.stop();
    await sweep(crm.app);
    expect(await ctx.global.outboxEvent.count({ where: { accountId: account.id } })).toBe(0);
  });

  it('is kept for a week more where no module declares the reader', async () => {
    const { app, ctx, stop } = await reading('test.gone', tagging(['contact.created']));
    await ctx.follow('test.gone');
    await stop();
    await account.contact({ firstName: 'Unread' });
    await eventually(async () => (await account.owner.get('/events')).body.data.data.length === 1);
    const keptAfter = async (days: number, by: App) => {
      crm.clock.advance(days * day);
      await sweep(by);
      return ctx.global.outboxEvent.count({ where: { accountId: account.id } });
    };
    expect(await keptAfter(36, crm.app)).toBe(1);
    expect(await keptAfter(2, app)).toBe(1);
    expect(await keptAfter(0, crm.app)).toBe(0);
  });

  it('costs an account that is not followed nothing', async () => {
    const { stop } = await reading('test.nobody', tagging(['*']));
    await account.contact({ firstName: 'Alone' });
    await stop();
    expect(await crm.app.database.prisma.feedReader.count({ where: { accountId: account.id } })).toBe(0);
  });
});

describe('what waits for a reader', () => {
  it('is told, but not while its account is suspended, nor where no module declares the reader', async () => {
    const { app, ctx, stop } = await reading('test.waits', tagging(['contact.created']));
    await ctx.follow('test.waits');
    await stop();
    await account.contact({ firstName: 'Waiting' });
    await eventually(async () => (await account.owner.get('/events')).body.data.data.length === 1);
    const suspend = (suspendedAt: Date | null) =>
      crm.app.database.prisma.account.update({ where: { id: account.id }, data: { suspendedAt } });
    const told = async (of: App) => (await waitingForAll(of)).filter(({ queue }) => queue === 'reader test.waits');
    const waiting = [{ queue: 'reader test.waits', count: 1, age: expect.any(Number) }];
    expect(await told(app)).toEqual(waiting);
    expect(await told(crm.app)).toEqual([]);
    await suspend(crm.clock.now());
    expect(await told(app)).toEqual([]);
    await suspend(null);
    expect(await told(app)).toEqual(waiting);
    const again = new FeedReaders();
    again.start(app);
    await eventually(async () => (await made(ctx)).length === 1 && (await told(app)).length === 0);
    await again.stop();
  });
});

describe('what a run does', () => {
  it('is told with the runs that led to it', async () => {
    account = await crm.seed.account();
    const ctx = await actingForAccount(crm.app, account.id);
    const ids = Array.from({ length: 4 }, () => crm.clock.id());
    const first = { kind: 'workflow' as const, id: ids[0]!, runId: ids[1]! };
    const second = { kind: 'automation' as const, id: ids[2]!, runId: ids[3]! };
    const running = ctx!
      .within(first, { kind: 'workflow', id: first.id, name: 'First' })
      .within(second, { kind: 'automation', id: second.id, name: 'Second' });
    const contact = await account.contact({ firstName: 'Ada' });
    await running.transaction(async (inside) => inside.emit({ name: 'contact.updated', record: contact as { id: string } }));
    const [made, changed] = await eventually(async () => {
      const { data } = (await account.owner.get('/events')).body.data;
      return data.length === 2 && data;
    });
    expect(made.causes).toEqual([]);
    expect(changed).toMatchObject({ causes: [first, second], actor: { kind: 'automation', id: second.id, name: 'Second' } });
  });
});
