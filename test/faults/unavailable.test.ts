import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Group, type Shared } from '../../src/graphql/subscriptions.group.js';
import { AppError, unavailable } from '../../src/kernel/base/errors.js';
import { nilId } from '../../src/kernel/base/ids.js';
import { TurnQueue } from '../../src/kernel/base/turnQueue.js';
import type { App } from '../../src/kernel/context/context.js';
import type { ToldEvent } from '../../src/kernel/feed/batches.js';
import { actingForAccount } from '../../src/modules/auth/auth.acting.js';
import { readMail } from '../../src/modules/messages/message.email.parserPool.js';
import { FeedReaders } from '../../src/workers/feedReaders.js';
import { Relay } from '../../src/workers/relay.js';
import { Worker } from '../../src/workers/worker.js';
import { dataOf, type KeyClient, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';

let api: TestServer;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  key = await (await api.seed.account()).key();
  // A tag that is called as an SQLSTATE meets it.
  await api.app.database.execute(`
    create function lack() returns trigger language plpgsql as $$
    begin
      if new.name ~ '^[0-9A-Z]{5}$' then raise exception 'lacking' using errcode = new.name; end if;
      return new;
    end $$;
    create trigger lack before insert on tags for each row execute function lack();`);
});
afterAll(() => api.close());

const linesOf = (code: string) => api.logs.map((line) => JSON.parse(line)).filter((line) => line.code === code);

describe('a request that the database cannot serve now', () => {
  it('leaves a line in the log: why, and the id that its caller was told', async () => {
    const { status, body } = await key.post('/tags', { name: '53100' });
    expect([status, body.code]).toEqual([503, 'unavailable']);
    expect(linesOf('53100')).toMatchObject([{ level: 40, msg: 'a request was answered with 503', requestId: body.requestId }]);
    expect(linesOf('53100')[0].err.message).toContain('lacking');
  });

  it('leaves one by GraphQL as well', async () => {
    const { errors } = await key.gql('mutation { createTag(input: { name: "57014" }) { id } }');
    expect(errors).toMatchObject([{ extensions: { code: 'unavailable' } }]);
    expect(linesOf('57014')).toMatchObject([{ level: 40, requestId: errors![0].extensions.requestId }]);
  });

  it('leaves a line a second at most of each kind, which tells how many were left out', async () => {
    const begun = performance.now();
    const replies = await Promise.all(Array.from({ length: 40 }, () => key.post('/tags', { name: '53200' })));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
    const told = () => linesOf('53200').reduce((sum, { leftOut = 0 }) => sum + 1 + leftOut, 0);
    await eventually(() => told() === 40);
    expect(linesOf('53200').length).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - begun) / 1000));
    const ids = new Set(replies.map(({ body }) => body.requestId));
    expect(linesOf('53200').filter(({ requestId }) => !ids.has(requestId))).toEqual([]);
    // Another kind waits for none of them.
    await key.post('/tags', { name: '53400' });
    expect(linesOf('53400')).toHaveLength(1);
  });

  it('leaves none where the request itself is at fault', async () => {
    expect((await key.post('/tags', { name: '22003' })).status).toBe(400);
    expect(linesOf('22003')).toEqual([]);
  });
});

it('A query of which nothing can be read is 503, one that is answered in part is 200', async () => {
  const { id } = dataOf(await key.post('/smart-lists', { name: 'All', filters: { field: 'firstName', op: 'is_not_null' } }));
  const noTurn = jest.spyOn(api.app.longReads, 'run').mockRejectedValue(unavailable(undefined, 7));
  try {
    const none = await key.gql('{ dealAggregate { count sum { value } } }');
    expect([none.status, none.headers['retry-after'], none.data]).toEqual([503, '7', null]);
    const part = await key.gql(`{ smartList(id: "${id}") { id count } }`);
    expect([part.status, part.headers['retry-after'], part.data]).toEqual([200, undefined, { smartList: { id, count: null } }]);
    expect(part.errors).toMatchObject([{ extensions: { code: 'unavailable', status: 503, retryAfter: 7 } }]);
  } finally {
    noTurn.mockRestore();
  }
});

describe('an event that is tried again while the database is away', () => {
  const tries = 8;

  it('leaves a line a second at most, with what the database says', async () => {
    const { caller: principal } = (await actingForAccount(api.app, (await api.seed.account()).id))!;
    let left = tries;
    const execute = async () => {
      if (left-- === 0) throw new AppError('not_found', 'the end');
      throw unavailable(undefined, undefined, Object.assign(new Error('away'), { code: 'AWAY' }));
    };
    const group = new Group(api.app, new TurnQueue(2), {
      operation: { execute },
      variables: {},
      principalNow: () => principal,
      cost: 0,
    } as unknown as Shared);
    group.holders = 1;
    const begun = performance.now();
    const event = { id: '1', eventId: 'one', name: 'tag.created' } as ToldEvent;
    await expect(group.told(event)).rejects.toThrow('the end');
    await eventually(() => linesOf('AWAY').reduce((sum, { leftOut = 0 }) => sum + 1 + leftOut, 0) === tries);
    expect(linesOf('AWAY').length).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - begun) / 1000));
    expect(linesOf('AWAY')[0]).toMatchObject({ msg: 'an event could not be read', err: { message: 'away' } });
  });
});

describe('work that is looked for while the database is away', () => {
  /** Fails each time it is asked. */
  function away(code: string) {
    const tries = { count: 0 };
    const ask = async () => {
      tries.count++;
      throw Object.assign(new Error('away'), { code });
    };
    return { tries, ask };
  }

  const starts: Record<string, (ask: () => Promise<never>) => (() => Promise<void>)[]> = {
    'a worker': (take) =>
      Array.from({ length: 12 }, (_, n) => {
        const work = { wake: `away ${n}`, concurrency: 1, idOf: String, take, run: async () => {} };
        const worker = new Worker(api.app, work);
        return () => worker.stop(0);
      }),
    'the relay could not place events': (executePlanned) => {
      const relay = new Relay({ executePlanned } as unknown as App['database'], api.app.channel, api.app.log);
      relay.start();
      return [() => relay.stop()];
    },
    'the readers of the feed could not look for events': (executePlanned) => {
      const readers = new FeedReaders();
      readers.start({ ...api.app, database: { ...api.app.database, executePlanned } });
      const asking = setInterval(() => readers.placed([nilId]), 20);
      return [() => readers.stop(), async () => clearInterval(asking)];
    },
  };

  it.each(Object.keys(starts))('leaves a line a second at most, whoever looks: %s', async (msg) => {
    const code = `AWAY ${msg}`;
    const { tries, ask } = away(code);
    const begun = performance.now();
    const stops = starts[msg]!(ask);
    await eventually(() => tries.count >= 12);
    for (const stop of stops) await stop();
    await eventually(() => linesOf(code).reduce((sum, { leftOut = 0 }) => sum + 1 + leftOut, 0) === tries.count);
    expect(linesOf(code).length).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - begun) / 1000));
    expect(linesOf(code)[0]).toMatchObject({ level: 40, msg, err: { message: 'away' } });
  });
});

describe('a mail that is not read in its time', () => {
  it('is a 503 with a cause, so that the log has it', async () => {
    const body = Buffer.from(`From: a@example.com\r\nTo: b@example.com\r\n\r\n${'x'.repeat(5_000_000)}`);
    const refusal = { status: 503, cause: { message: 'a mail was not read in its time' } };
    await expect(readMail('eve', { body, isReport: false }, 1)).rejects.toMatchObject(refusal);
  });
});
