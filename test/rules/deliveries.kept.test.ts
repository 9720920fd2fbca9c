import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readConfig } from '../../src/kernel/base/config.js';
import { sweep } from '../../src/workers/sweeps.js';
import { kept, queued } from '../support/deliveries.js';
import { type Account, day, server, type TestServer } from '../support/index.js';

let api: TestServer;
let accounts: Account[];
beforeAll(async () => {
  api = await server();
  accounts = [await api.seed.account(), await api.seed.account()];
});
afterAll(() => api.close());

/** A delivery of so many days ago. */
async function delivery(account: Account, days: number, fields: object = {}): Promise<string> {
  const id = await queued(api, account, { url: 'ftp://127.0.0.1/' });
  const createdAt = new Date(api.clock.now().getTime() - days * day);
  const ended = { status: 'delivered', dueAt: null, leasedUntil: null, createdAt };
  await api.app.database.prisma.webhookDelivery.updateMany({ where: { id }, data: { ...ended, ...fields } });
  return id;
}

it('deletes deliveries that ended, once they are as old as KEEP_DELIVERIES_DAYS says, and none without it', async () => {
  const [acme, other] = accounts as [Account, Account];
  // Far ahead, so that nobody takes what is still due.
  const pending = { status: 'pending', dueAt: new Date('2099-01-01') };
  const old = [
    await delivery(acme, 31),
    await delivery(acme, 40, { status: 'failed' }),
    await delivery(other, 31, { status: 'cancelled' }),
  ];
  const staying = [await delivery(acme, 29), await delivery(other, 31, pending)];
  const replayed = await delivery(acme, 35);
  const replay = await delivery(acme, 2, { replayOf: replayed });
  await sweep(api.app);
  for (const id of [...old, ...staying, replayed, replay]) expect(await kept(api, id)).not.toBeNull();
  api.app.config.keepDeliveriesDays = 30;
  await sweep(api.app);
  for (const id of old) expect(await kept(api, id)).toBeNull();
  for (const id of [...staying, replayed, replay]) expect(await kept(api, id)).not.toBeNull();
  await api.app.database.prisma.webhookDelivery.updateMany({ where: { id: replay }, data: { createdAt: new Date(0) } });
  await sweep(api.app);
  await sweep(api.app);
  for (const id of [replayed, replay]) expect(await kept(api, id)).toBeNull();
});

it('deletes fewer at once where the database ends the statement that would take many', async () => {
  const { execute } = api.app.database;
  const one = await delivery(accounts[0]!, 500);
  await execute(
    `insert into webhook_deliveries select (json_populate_record(d, json_build_object('id', gen_random_uuid()))).* from webhook_deliveries d,
      generate_series(1, 1200) where d.id = $1::uuid`,
    [one],
  );
  const old = async () => (await execute("select id from webhook_deliveries where created_at < now() - interval '400 days'")).rows.length;
  expect(await old()).toBe(1201);
  await execute(
    `create function too_many() returns trigger language plpgsql as $$ begin
      if (select count(*) from gone) > 1000 then raise exception 'canceling statement' using errcode = '57014'; end if;
      return null;
    end $$`,
  );
  await execute(
    `create trigger too_many after delete on webhook_deliveries referencing old table as gone for each statement execute function too_many()`,
  );
  api.app.config.keepDeliveriesDays = 300;
  await sweep(api.app);
  expect(await old()).toBe(0);
  expect(api.logs.filter((line) => line.includes('a sweep failed'))).toEqual([]);
  await execute('drop trigger too_many on webhook_deliveries');
});

it('takes no fewer days than a delivery may be tried', () => {
  expect(readConfig({ KEEP_DELIVERIES_DAYS: '7' }).keepDeliveriesDays).toBe(7);
  expect(readConfig({}).keepDeliveriesDays).toBeUndefined();
  expect(() => readConfig({ KEEP_DELIVERIES_DAYS: '1' })).toThrow(/KEEP_DELIVERIES_DAYS/);
});
