import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf } from '../../src/client/index.js';
import { LiveQuery, type LiveShared } from '../../src/graphql/live.js';
import { TurnQueue } from '../../src/kernel/base/turnQueue.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { type Account, type KeyClient, type Loose, server, type TestServer } from '../support/index.js';
import { bearer, eventually, Socket, Stream } from '../support/live.js';
import { lineTo } from '../support/resumeLine.js';

let crm: TestServer;
beforeAll(async () => {
  crm = await server();
});
afterAll(() => crm.close());

const query = 'subscription ($after: ID) { contactEvents(after: $after, ready: true) { id kind contact { lastName } } }';

/** The database is another one, which has the last two events of the account not. */
const loseTwo = ({ id }: Account) =>
  crm.app.database.execute(
    `with head as (update feed_heads set pos = pos - 2 where account_id = $1::uuid returning pos),
       lost as (delete from feed_positions p using head where p.account_id = $1::uuid and p.pos > head.pos returning p.seq)
     delete from outbox_events e using lost where e.account_id = $1::uuid and e.seq = lost.seq`,
    [id],
  );

/** It has others in their places by now. */
const replaceLast = ({ id }: Account) =>
  crm.app.database.execute(
    `update outbox_events e set id = gen_random_uuid() from feed_heads h join feed_positions p on p.account_id = h.account_id and p.pos = h.pos
     where h.account_id = $1::uuid and e.account_id = h.account_id and e.seq = p.seq`,
    [id],
  );

/** Somebody who follows the contacts of an account, from here on, through the resume link. */
function followed({ secret }: KeyClient) {
  const line = lineTo(`http://127.0.0.1:${crm.wire.port}`, secret);
  const told: Loose[] = [];
  const errors: unknown[] = [];
  const sink = {
    next: ({ data }: Loose) => void told.push(data.contactEvents),
    error: (error: unknown) => void errors.push(error),
    complete() {},
  };
  line.client.subscribe<Loose>({ query }, sink);
  return { client: line.client, told, errors };
}

const warnings = ({ id }: Account) => crm.logs.filter((line) => line.includes('lost the last events') && line.includes(id));

describe('a feed whose last events the database has lost', () => {
  it.each([
    ['ends before them', loseTwo],
    ['has others in their places', replaceLast],
  ])('ends those who follow it where it %s, and they begin anew', async (_where, lose) => {
    const account = await crm.seed.account();
    const key = await account.key();
    const { client, told, errors } = followed(key);
    await eventually(() => told.length === 1);
    for (const lastName of ['First', 'Lost', 'Lost too']) await account.contact({ lastName });
    await eventually(() => told.length === 4);
    const stream = await Stream.open(key, query, { after: told.at(-1)!.id });
    await stream.nth(1);
    await lose(account);
    await eventually(() => errors.length > 0 && stream.complete);
    expect(errorOf(errors[0]).code).toBe('gone');
    expect(stream.errors).toMatchObject([{ extensions: { code: 'gone', status: 410 } }]);
    expect(warnings(account)).toHaveLength(1);
    const anew = followed(key);
    await eventually(() => anew.told.length === 1);
    await account.contact({ lastName: 'After it' });
    await eventually(() => anew.told.length === 2);
    expect(anew.told[1].contact.lastName).toBe('After it');
    expect([told.length, errors.length, anew.errors]).toEqual([4, 1, []]);
    expect(warnings(account)).toHaveLength(1);
    await Promise.all([client.dispose(), anew.client.dispose()]);
  });

  it('is looked at anew by live queries, which go on', async () => {
    const account = await crm.seed.account();
    const { id } = await account.contact({ lastName: 'Kept' });
    const socket = await Socket.open(crm.wire.port, { init: bearer(await account.key()) });
    const rows = 'rows { recordId version index change node { lastName } }';
    const live = socket.run(`subscription { live { position contacts(first: 5) { isWhole removed ${rows} } } }`);
    const last = () => live.events.flatMap(({ contacts }) => contacts.rows).at(-1)?.node.lastName;
    for (const lastName of ['Lost', 'Lost too']) {
      await account.owner.patch(`/contacts/${id}`, { lastName });
      await eventually(() => last() === lastName);
    }
    await crm.app.database.execute(`update contacts set last_name = 'Kept' where id = $1::uuid`, [id]);
    const before = Number(live.events.at(-1).position);
    await loseTwo(account);
    await eventually(() => Number(live.events.at(-1).position) === before - 2);
    expect([last(), live.events.at(-1).contacts.isWhole]).toEqual(['Kept', false]);
    await account.owner.patch(`/contacts/${id}`, { lastName: 'After it' });
    await eventually(() => last() === 'After it');
    expect(live.errors).toBeUndefined();
    socket.cut();
  });
});

it('a live query that is being read when its feed is set back tells no position of before', async () => {
  const { caller: principal } = (await actingForAccount(crm.app, (await crm.seed.account()).id))!;
  const reads: (() => void)[] = [];
  const query = {
    kind: 'query',
    allow() {},
    coerce: () => ({}),
    execute: async () => {
      await new Promise<void>((resume) => reads.push(resume));
      return { data: {} };
    },
  };
  const plan = { key: 'live', members: [{ key: 'position', name: 'position' }], lists: [] };
  const shared = {
    schema: crm.app.registry.schema(),
    plan,
    query,
    variables: {},
    principalNow: () => principal,
    cost: 0,
  } as unknown as LiveShared;
  let position = 5n;
  const live = new LiveQuery(crm.app, new TurnQueue(1), shared, () => position);
  const told: string[] = [];
  const sink = {
    send: (_message: unknown, at: string) => void told.push(at),
    isCrowded: () => false,
    drained: () => Promise.resolve(),
    fail(reason: unknown) {
      throw reason;
    },
  };
  const leave = live.join(sink, new Map());
  await eventually(() => reads.length === 1);
  position = 3n;
  live.refresh();
  reads[0]!();
  await eventually(() => reads.length === 2);
  reads[1]!();
  await eventually(() => told.length > 0);
  leave();
  expect(told).toEqual(['3']);
});
