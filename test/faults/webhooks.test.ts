import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import { type Client, dataOf, type Loose, onPostgres } from '../support/index.js';
import { eventually } from '../support/live.js';
import type { ServerProcess } from '../support/process.js';
import { Receiver } from '../support/receiver.js';

jest.setTimeout(180_000);

/** Longer than a busy machine stands still, and well below the ten seconds after which an attempt ends by itself. */
const lease = 5;
let server: Alone;
let receiver: Receiver;
let webhook: Loose;
beforeAll(async () => {
  server = await Alone.begin({ WEBHOOK_ALLOW_PRIVATE: '1', LEASE_SECONDS: String(lease) });
});
afterAll(() => server.end());
beforeEach(async () => {
  receiver = await Receiver.open();
  webhook = dataOf(await server.caller.post('/webhooks/manage', { url: receiver.url, events: ['contact.created'] }));
});
afterEach(async () => {
  await server.caller.del(`/webhooks/manage/${webhook.id}`);
  await receiver.close();
});

const contacts = async (count: number): Promise<string[]> => {
  const made: string[] = [];
  for (let n = 0; n < count; n++) made.push(dataOf(await server.caller.post('/contacts', { firstName: `Person ${n}` })).id);
  return made;
};
const deliveries = async (caller: Client): Promise<Loose[]> =>
  dataOf(await caller.get(`/webhooks/manage/${webhook.id}/deliveries?per_page=200`)).data;
const allDelivered = (count: number, caller = server.caller): Promise<Loose[]> =>
  eventually(async () => {
    const all = await deliveries(caller);
    return all.length === count && all.every(({ status }) => status === 'delivered') ? all : undefined;
  }, 90_000) as Promise<Loose[]>;
const people = async (): Promise<number> => dataOf(await server.caller.get('/contacts?per_page=1')).meta.total;
const idsReceived = () => receiver.received.map(({ body }) => JSON.parse(body).data.id as string);

describe('a server that is killed between the 200 of a receiver and the settling of the delivery', () => {
  it('delivers every event at least once, as the same event and bytes, and again only what was under way', async () => {
    const kills = 3;
    let killed = 0;
    let up: Promise<unknown> = Promise.resolve();
    receiver.answer = (_, response, nth) => {
      if (nth % 10 !== 5 || killed === kills) return void response.end();
      killed++;
      response.end();
      up = server.process.kill().then(() => server.start());
    };
    const made: string[] = [];
    for (let batch = 0; batch < 4; batch++) {
      await up;
      made.push(...(await contacts(10).catch(() => [])));
    }
    await eventually(() => killed > 0);
    await up;
    await eventually(() => made.every((id) => idsReceived().includes(id)), 90_000);
    await up;
    // Those too whose making nobody was told of, and whose events are read only now.
    const all = await allDelivered(await people());
    expect(all.length).toBeGreaterThanOrEqual(made.length);
    const bytes = new Map<string, Set<string>>();
    for (const { headers, body } of receiver.received) {
      const id = headers['webhook-id'] as string;
      bytes.set(id, (bytes.get(id) ?? new Set()).add(body));
    }
    expect([...bytes.values()].every(({ size }) => size === 1)).toBe(true);
    expect(bytes.size).toBe(all.length);
    // At most four were under way at each kill.
    expect(receiver.received.length - bytes.size).toBeLessThanOrEqual(killed * 4);
  });
});

onPostgres(describe)('two processes', () => {
  let second: { process: ServerProcess; caller: Client };
  beforeEach(async () => {
    second = await server.beside();
  });
  afterEach(() => second.process.kill());

  /** Waits until no delivery belongs to a process any more, by the clock of the database. */
  const leasesEnded = async (): Promise<void> => {
    const database = new pg.Client(server.databaseUrl);
    await database.connect();
    const held = async () => (await database.query('select from webhook_deliveries where leased_until > now()')).rowCount;
    await eventually(async () => (await held()) === 0, 30_000);
    await database.end();
  };

  it('never work on one delivery at once, nor on more than four of a webhook', async () => {
    let [now, most] = [0, 0];
    receiver.answer = async (_, response) => {
      most = Math.max(most, ++now);
      await setTimeout(30);
      now--;
      response.end();
    };
    const made = await contacts(40);
    await allDelivered(40);
    expect(idsReceived().sort()).toEqual(made.sort());
    expect(most).toBeLessThanOrEqual(4);
  });

  it('one of them frozen for two leases: the other goes on, and the late one settles nothing', async () => {
    let held: (() => void)[] = [];
    receiver.answer = (_, response, nth) => {
      if (nth <= 4) held.push(() => void response.writeHead(500).end());
      else response.end();
    };
    server.process.signal('SIGSTOP');
    server.process.signal('SIGCONT');
    const made = await contacts(4);
    await receiver.until(4);
    // Whoever has them: both are frozen while their leases end, and one alone comes back first.
    for (const each of [server.process, second.process]) each.signal('SIGSTOP');
    await leasesEnded();
    second.process.signal('SIGCONT');
    await allDelivered(4, second.caller);
    for (const answer of held) answer();
    held = [];
    server.process.signal('SIGCONT');
    const all = await allDelivered(4);
    expect(new Set(idsReceived())).toEqual(new Set(made));
    expect(all.map(({ attemptCount }) => attemptCount)).toEqual([1, 1, 1, 1]);
    expect(all.every(({ attempts }) => attempts.every(({ responseStatus }: Loose) => responseStatus === 200))).toBe(true);
  });
});
