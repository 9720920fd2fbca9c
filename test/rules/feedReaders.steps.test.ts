import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { App, FeedReader } from '../../src/kernel/context/context.js';
import type { FeedEvent } from '../../src/kernel/events/feedStore.js';
import { behind, type ReadEvent } from '../../src/kernel/events/readers.js';
import { actingForAccount, foundAccount } from '../../src/modules/auth/auth.acting.js';
import { makeDeliveries } from '../../src/modules/webhooks/webhook.reader.js';
import { startRuns } from '../../src/modules/workflows/run.reader.js';
import { allPlaced } from '../support/automations.js';
import { type Account, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { made, reading, tagging } from '../support/readers.js';
import { activeWorkflow } from '../support/workflows.js';

let crm: TestServer;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

/** Events of contacts that are nobody's doing, each with so many bytes in it. */
async function happened(account: Account, count: number, bytes = 1): Promise<void> {
  await crm.app.database.execute(
    `insert into outbox_events (account_id, id, name, entity_type, entity_id, data, created_at)
    select $1::uuid, gen_random_uuid(), 'contact.updated', 'contact', gen_random_uuid(), json_build_object('city', repeat('x', $3::int)), now()
    from generate_series(1, $2::int)`,
    [account.id, count, bytes],
  );
  crm.app.eventsWritten();
  await allPlaced(account);
}

/** Waits until a reader made something of so many events; answers their places. */
async function places({ ctx, placed, stop }: Awaited<ReturnType<typeof reading>>, count: number): Promise<number[]> {
  await eventually(async () => {
    placed();
    return (await made(ctx)).length >= count;
  }, 60_000);
  await stop();
  return (await made(ctx)).map((name) => Number.parseInt(name, 10));
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

describe('a step of a reader', () => {
  it('that fails for there is too much in it is tried with less, and not with more at once', async () => {
    let failures = 0;
    const weak = tagging(['contact.updated'], ({ length }) => {
      if (length <= 10) return;
      failures++;
      throw new Error('This is too much');
    });
    const its = await reading(crm, 'test.weak', weak);
    await its.ctx.follow('test.weak');
    await happened(its.account, 200);
    expect(await places(its, 200)).toEqual(upTo(200));
    expect(failures).toBeLessThanOrEqual(6);
  });

  it('gives up no event before the one that fails', async () => {
    const poisoned = tagging(['contact.updated'], (events) => {
      if (events.some(({ id }) => id === '8')) throw new Error('This one is wrong');
    });
    const its = await reading(crm, 'test.poisoned', poisoned);
    await its.ctx.follow('test.poisoned');
    await happened(its.account, 20);
    expect(await places(its, 7)).toEqual(upTo(7));
  });

  it('reads a few megabytes of events, and a larger event alone', async () => {
    const steps: number[] = [];
    const its = await reading(
      crm,
      'test.large',
      tagging(['contact.updated'], ({ length }) => void steps.push(length)),
    );
    await its.ctx.follow('test.large');
    await happened(its.account, 7, 1_500_000);
    await happened(its.account, 1, 5_000_000);
    await happened(its.account, 2);
    expect(await places(its, 10)).toEqual(upTo(10));
    expect(Math.max(...steps)).toBe(2);
  });

  it('is given again what nothing was made of yet', async () => {
    const all = tagging(['contact.updated']);
    const three: FeedReader = { ...all, make: (ctx, events) => all.make(ctx, events.slice(0, 3)) };
    const its = await reading(crm, 'test.three', three);
    await its.ctx.follow('test.three');
    await happened(its.account, 20);
    expect(await places(its, 20)).toEqual(upTo(20));
  });
});

/** What a reader makes of events, and of how many of them. */
async function making(account: Account, make: FeedReader['make'], events: readonly ReadEvent[], app: App = crm.app): Promise<number> {
  const ctx = await actingForAccount(app, account.id);
  return ctx!.transaction((inside) => make(inside, events));
}

/** Events as a reader is given them. */
const given = (count: number, size = 500): ReadEvent[] =>
  upTo(count).map((n) => {
    const event: FeedEvent = {
      ...{ id: String(1000 + n), eventId: crm.clock.id(), changeId: crm.clock.id(), name: 'contact.updated', kind: 'contact.updated' },
      ...{ names: ['contact.updated'], createdAt: crm.clock.now(), type: 'Contact', entityType: 'contact', entityId: crm.clock.id() },
      ...{ actor: { kind: 'system', id: null, name: 'System' }, clientMutationId: null, traceparent: null, tracestate: null, causes: [] },
      ...{ batchId: null, onlyFor: null, changes: null, data: { id: crm.clock.id(), city: 'Oslo' } },
    };
    return { ...event, size };
  });

describe('a step of a reader in an account where much reacts', () => {
  it('makes deliveries of a few events', async () => {
    const account = await crm.seed.account();
    const hook = (n: number) => ({ url: `http://127.0.0.1:9/${n}`, events: ['contact.updated'] });
    for (const n of upTo(30)) await account.owner.post('/webhooks/manage', hook(n));
    expect(await making(account, makeDeliveries, given(100))).toBe(16);
    // One of them alone may lead to more.
    expect(await making(account, makeDeliveries, given(5, 2_000_000))).toBe(1);
    const { rows } = await crm.app.database.execute(
      `select count(*)::int as n, count(distinct webhook_id)::int as webhooks, count(distinct event_id)::int as events
      from webhook_deliveries where account_id = $1`,
      [account.id],
    );
    expect(rows).toEqual([{ n: 17 * 30, webhooks: 30, events: 17 }]);
  });

  it('starts the runs of a few events, and reads the conditions of each workflow once', async () => {
    const account = await crm.seed.account();
    const trigger = (city: string) => ({ event: 'contact.updated', conditions: { city } });
    const actions = [{ type: 'create_task', config: { title: 'Call' } }];
    for (const n of upTo(6)) await activeWorkflow(account, { name: `W${n}`, trigger: trigger(n === 1 ? 'Oslo' : 'Bergen'), actions });
    let read = 0;
    const schema = () => {
      read++;
      return crm.app.registry.schema();
    };
    const app: App = { ...crm.app, registry: { ...crm.app.registry, schema } };
    const missed = given(100).map((event) => ({ ...event, data: { ...event.data, city: 'Rome' } }));
    expect(await making(account, startRuns, missed, app)).toBe(100);
    expect(read).toBeLessThanOrEqual(6);
    // Events of almost eight megabytes each: so many runs hold as much as a step may.
    expect(await making(account, startRuns, given(5, 7_900_000))).toBe(2);
  });

  it('counts what workflows bring along, which stands in each run and in what is told of it', async () => {
    const account = await crm.seed.account();
    const large = { type: 'create_task', config: { title: 'Call', description: 'x'.repeat(4000) } };
    const actions = Array.from({ length: 50 }, () => large);
    for (let n = 0; n < 4; n++) await activeWorkflow(account, { trigger: { event: 'contact.updated' }, actions });
    // Four of two hundred kilobytes, twice: ten events of them are sixteen megabytes.
    expect(await making(account, startRuns, given(100))).toBeLessThanOrEqual(10);
  });
});

describe('a look for readers that are behind', () => {
  it('moves those at once that want nothing, and locks none of the others', async () => {
    const its = await reading(crm, 'test.wanting', tagging(['contact.updated']));
    await its.stop();
    await its.ctx.follow('test.wanting');
    const { account, app } = its;
    await crm.app.database.execute("insert into feed_readers (account_id, name, pos) values ($1, 'test.idle', 0)", [account.id]);
    await happened(account, 3);
    const readers = new Map(app.registry.readers).set('test.idle', tagging(['deal.won']));
    const look = behind({ accounts: [account.id], most: 10, account: foundAccount, readers });
    const { rows } = await crm.app.database.execute(look.text, look.values);
    expect(rows).toMatchObject([{ name: 'test.wanting' }]);
    const { rows: after } = await crm.app.database.execute(
      'select name, pos::int, xmax::text as locked from feed_readers where account_id = $1 order by name desc',
      [account.id],
    );
    expect(after).toMatchObject([
      { name: 'test.wanting', pos: 0, locked: '0' },
      { name: 'test.idle', pos: 3 },
    ]);
  });
});
