import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { settleAttempt } from '../../src/modules/webhooks/webhook.settle.js';
import { actingFor, attempted, queued } from '../support/deliveries.js';
import { type Account, hour, onPostgres, second, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { Receiver } from '../support/receiver.js';

let api: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());
beforeEach(async () => {
  receiver = await Receiver.open();
});
afterEach(async () => {
  await query("update webhook_deliveries set status = 'cancelled', due_at = null, leased_until = null where due_at is not null");
  await receiver.close();
});

const query = async (text: string, values: unknown[] = []) => (await api.app.database.execute(text, values)).rows as object[];

interface Given {
  count: number;
  source?: string;
  url?: string;
  /** When they are due; long ago by default, so that nobody else comes before them. */
  due?: string;
  /** Whether somebody has them under way. */
  leased?: boolean;
}

/** Makes deliveries of a source of an account by hand; answers their ids. */
async function deliveries({ id }: Account, { count, source, url, due = '2020-01-01', leased }: Given): Promise<string[]> {
  const rows = await query(
    `insert into webhook_deliveries (account_id, id, source_kind, source_id, url, event_id, event, body, due_at, attempt, leased_until,
      created_at, updated_at)
    select $1::uuid, gen_random_uuid(), 'workflow', $2::uuid, $3, gen_random_uuid(), 'deal.won', '{}',
      $4::timestamptz + make_interval(secs => n), case when $5::timestamptz is null then 0 else 1 end, $5::timestamptz, now(), now()
    from generate_series(1, $6::int) n returning id`,
    [id, source ?? api.app.clock.id(), url ?? receiver.url, due, leased ? new Date(Date.now() + hour).toISOString() : null, count],
  );
  return (rows as { id: string }[]).map((row) => row.id);
}

/** Sources of an account that never answer, each with more to send than its places. */
async function silent(account: Account): Promise<void> {
  for (let n = 0; n < 11; n++) await deliveries(account, { count: 12 });
  api.app.jobs.wake('deliveries');
}

describe('addresses that are silent', () => {
  it('leave a place to one that answers, whose delivery is younger than all that wait', async () => {
    receiver.answer = () => {};
    const acme = await api.seed.account();
    await silent(acme);
    await receiver.until(30);
    const good = await Receiver.open();
    const begun = Date.now();
    const id = await queued(api, acme, { url: good.url });
    await good.until(1, 8000);
    // An attempt of theirs takes ten seconds.
    expect(Date.now() - begun).toBeLessThan(5 * second);
    await attempted(api, id, 1);
    await good.close();
  });

  it('of three workspaces leave places to a neighbour', async () => {
    receiver.answer = () => {};
    for (let n = 0; n < 3; n++) await silent(await api.seed.account());
    await receiver.until(80);
    const good = await Receiver.open();
    const begun = Date.now();
    await queued(api, await api.seed.account(), { url: good.url });
    await good.until(1, 8000);
    expect(Date.now() - begun).toBeLessThan(5 * second);
    await good.close();
  });
});

/** What is taken of deliveries that are due in a hundred years, and given back; the ids. */
async function takenThen(most: number): Promise<Map<string, number>> {
  const rows = await query(
    `select d.source_id as source, count(*)::int as n from take_deliveries('2130-01-01', $1::int, 30, 4, 40) t
    join webhook_deliveries d using (id) group by 1`,
    [most],
  );
  await query("update webhook_deliveries set leased_until = null where due_at > '2100-01-01' and attempt = 1");
  await query("update webhook_deliveries set attempt = 0 where due_at > '2100-01-01' and leased_until is null");
  return new Map((rows as { source: string; n: number }[]).map(({ source, n }) => [source, n]));
}
const later = '2120-01-01';

describe('places', () => {
  it('are given to who has the fewest under way, whoever has waited longest', async () => {
    const acme = await api.seed.account();
    const [old, young, youngest] = [api.app.clock.id(), api.app.clock.id(), api.app.clock.id()];
    await query("update webhook_deliveries set due_at = null where due_at > '2100-01-01'");
    await deliveries(acme, { count: 3, source: old, leased: true });
    await deliveries(acme, { count: 10, source: old, due: later });
    await deliveries(acme, { count: 10, source: young, due: '2121-01-01' });
    await deliveries(acme, { count: 10, source: youngest, due: '2122-01-01' });
    expect(await takenThen(1)).toEqual(new Map([[young, 1]]));
    expect(await takenThen(4)).toEqual(
      new Map([
        [young, 2],
        [youngest, 2],
      ]),
    );
    const neighbour = api.app.clock.id();
    await deliveries(await api.seed.account(), { count: 10, source: neighbour, due: '2123-01-01' });
    expect(await takenThen(3)).toEqual(new Map([[neighbour, 3]]));
  });

  it('of a webhook that only fails are one, and come after those of others', async () => {
    const acme = await api.seed.account();
    const { id } = (await acme.owner.post('/webhooks/manage', { url: receiver.url, events: ['deal.won'] })).body.data;
    const other = api.app.clock.id();
    await deliveries(acme, { count: 10, source: id, due: later });
    await deliveries(acme, { count: 10, source: other, due: '2121-01-01' });
    const both = (failing: number, good: number) => new Map([...(failing ? [[id, failing] as const] : []), [other, good] as const]);
    expect(await takenThen(100)).toEqual(both(4, 4));
    await query('update webhooks set failing_since = now() where id = $1::uuid', [id]);
    expect(await takenThen(100)).toEqual(both(1, 4));
    expect(await takenThen(1)).toEqual(both(0, 1));
  });
});

describe('a place whose attempt has arrived', () => {
  const attempt = (id: string, delivered = true) => {
    const begun = new Date();
    const next = delivered ? null : new Date(begun.getTime() + hour);
    return { id, attempt: 1, begun, ended: begun, url: receiver.url, next, delivered, status: 200, ms: 1, error: null, goesOn: true };
  };
  const underWay = async (source: string): Promise<string[]> =>
    (await query('select id from webhook_deliveries where source_id = $1::uuid and leased_until > now()', [source])).map(
      (row) => (row as { id: string }).id,
    );

  it('goes on to what is due next of the same source, as many as were settled', async () => {
    const ctx = await actingFor(api, await api.seed.account());
    const [source, account] = [api.app.clock.id(), { id: ctx.caller.account.id } as Account];
    const held = await deliveries(account, { count: 4, source, leased: true });
    const [first, second] = await deliveries(account, { count: 6, source });
    const after = await Promise.all([attempt(held[0]!), attempt(held[1]!)].map((given) => settleAttempt(ctx, given)));
    expect(after.map((each) => each?.next?.id)).toEqual([first, second]);
    expect(after[0]!.next).toMatchObject({ attempt: 1, more: { url: receiver.url, sourceId: source, isWanted: true } });
    expect((await underWay(source)).sort()).toEqual([held[2], held[3], first, second].sort());
  });

  it('does not where the lease is near its end, others wait for places, or it is not asked to', async () => {
    const ctx = await actingFor(api, await api.seed.account());
    const [source, account] = [api.app.clock.id(), { id: ctx.caller.account.id } as Account];
    const held = await deliveries(account, { count: 8, source, leased: true });
    await deliveries(account, { count: 6, source });
    expect((await settleAttempt(ctx, { ...attempt(held[0]!), goesOn: false }))?.next).toBeUndefined();
    await query("update webhook_deliveries set leased_until = now() + interval '9 seconds' where id = $1::uuid", [held[1]]);
    expect((await settleAttempt(ctx, attempt(held[1]!)))?.next).toBeUndefined();
    expect((await settleAttempt(ctx, attempt(held[2]!, false)))?.next).toBeUndefined();
    const others = await deliveries(account, { count: 30, leased: true });
    expect((await settleAttempt(ctx, attempt(held[3]!)))?.next).toBeUndefined();
    await query('update webhook_deliveries set due_at = null, leased_until = null where id = any($1::uuid[])', [others]);
    expect((await settleAttempt(ctx, attempt(held[4]!)))?.next).toBeDefined();
    expect(await eventually(async () => (await underWay(source)).length === 4)).toBe(true);
  });

  it('does not where so many that settle together would follow each other, nor for an account that is suspended', async () => {
    const ctx = await actingFor(api, await api.seed.account());
    const [source, account] = [api.app.clock.id(), { id: ctx.caller.account.id } as Account];
    const held = await deliveries(account, { count: 40, source, leased: true });
    await deliveries(account, { count: 20, source });
    const after = await Promise.all(held.slice(0, 12).map((id) => settleAttempt(ctx, attempt(id))));
    expect(after.map((each) => each?.next)).toEqual(Array.from({ length: 12 }, () => undefined));
    await query('update webhook_deliveries set due_at = null, leased_until = null where id = any($1::uuid[])', [held.slice(20)]);
    expect((await settleAttempt(ctx, attempt(held[12]!)))?.next).toBeDefined();
    await query('update accounts set suspended_at = now() where id = $1::uuid', [account.id]);
    expect((await settleAttempt(ctx, attempt(held[13]!)))?.next).toBeUndefined();
  });
});

onPostgres(describe)('what follows while the webhook is changed', () => {
  it('goes to the new address', async () => {
    const acme = await api.seed.account();
    const ctx = await actingFor(api, acme);
    const { id } = (await acme.owner.post('/webhooks/manage', { url: receiver.url, events: ['deal.won'] })).body.data;
    // As many as go to one address at a time: the server's own worker takes none of it meanwhile.
    const [held] = await deliveries(acme, { count: 4, source: id, leased: true });
    await deliveries(acme, { count: 1, source: id });
    await query("update webhook_deliveries set webhook_id = source_id, source_kind = 'webhook', url = null where source_id = $1::uuid", [
      id,
    ]);
    const begun = new Date();
    const given = {
      id: held!,
      attempt: 1,
      begun,
      ended: begun,
      url: receiver.url,
      next: null,
      delivered: true,
      status: 200,
      ms: 1,
      error: null,
      goesOn: true,
    };
    let settling: ReturnType<typeof settleAttempt> | undefined;
    await api.app.database.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`update webhooks set url = 'https://new.example/hook' where id = ${id}::uuid`;
      settling = settleAttempt(ctx, given);
      await eventually(
        async () =>
          (await query("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).length > 0,
      );
    });
    expect((await settling)?.next?.more).toMatchObject({ url: 'https://new.example/hook', isWanted: true });
  });
});
