import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { allPlaced } from '../support/automations.js';
import { type Account, server, type TestServer } from '../support/index.js';
import { bearer, type Feed, Socket } from '../support/live.js';

let crm: TestServer;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

const count = 12;

/** So many events of contacts that are nobody's doing, each with 900 KB in it. */
async function happened(account: Account): Promise<void> {
  await crm.app.database.execute(
    `insert into outbox_events (account_id, id, name, entity_type, entity_id, data, actor_kind, created_at)
    select $1::uuid, gen_random_uuid(), 'contact.updated', 'contact', gen_random_uuid(),
      json_build_object('city', repeat('x', 900000)), 'system', now()
    from generate_series(1, $2::int)`,
    [account.id, count],
  );
  crm.app.eventsWritten();
  await allPlaced(account);
}

/** The bytes of what each statement for the feed answers meanwhile. */
async function readBy(work: () => Promise<unknown>): Promise<number[]> {
  const { database } = crm.app;
  const { planned } = database;
  const read: number[] = [];
  database.planned = async (query) => {
    const answer = await planned(query);
    if (query.text.includes('outbox_events')) read.push(Buffer.byteLength(answer[0]!));
    return answer;
  };
  await work().finally(() => Object.assign(database, { planned }));
  return read;
}

describe('a subscriber to large events', () => {
  /** What somebody hears of them who begins before they happen, or asks for them afterwards. */
  async function heard(isLate: boolean): Promise<{ ids: number[]; read: number[] }> {
    const account = await crm.seed.account();
    const socket = await Socket.open(crm.wire.port, { init: bearer(await account.key()) });
    const listen = (args = ''): Feed => socket.run(`subscription { events(names: ["contact.updated"], ready: true${args}) { id } }`);
    const early = isLate ? undefined : listen();
    await early?.nth(1);
    let feed = early;
    const read = await readBy(async () => {
      await happened(account);
      feed ??= listen(', after: "0"');
      // The first tells that it is ready.
      await feed.nth(1 + count);
    });
    socket.cut();
    return { ids: feed!.ids.slice(1).map(Number), read };
  }

  it.each([
    ['as they happen', false],
    ['after a position', true],
  ])('hears each once and in order, and no statement reads more than a few megabytes of them: %s', async (_when, isLate) => {
    const { ids, read } = await heard(isLate);
    expect(ids).toEqual(Array.from({ length: count }, (_, n) => ids[0]! + n));
    expect(Math.max(...read)).toBeGreaterThan(3_000_000);
    expect(Math.max(...read)).toBeLessThan(5_000_000);
  });
});
