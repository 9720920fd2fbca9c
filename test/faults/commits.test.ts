import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import { type Client, dataOf, type Loose, onPostgres, type Reply } from '../support/index.js';
import { eventually } from '../support/live.js';
import { TcpProxy } from '../support/proxy.js';

jest.setTimeout(30_000);

let house: Alone;
let proxy: TcpProxy;
let database: pg.Client;
let form: Loose;
/** The process whose connections are lost: the same caller, through the proxy. */
let asked: Awaited<ReturnType<Alone['beside']>>;

const begin = async () => {
  asked = await house.beside({ DATABASE_URL: proxy.through(house.databaseUrl!), WEBHOOK_ALLOW_PRIVATE: '1', ROLE: 'api' });
};

let nth = 0;
const rows = async (text: string, value: string) => (await database.query(text, [value])).rowCount;

/** An operation that commits by itself: how it is asked for under a key, and how much of it there is. */
interface Kind {
  send(client: Client, name: string): Promise<Reply>;
  count(name: string): Promise<number | null>;
}

// Only the transaction that ends an import is to be known by its key.
const reversed = (name: string) => [...name].reverse().join('');

const kinds: Record<string, Kind> = {
  createWebhook: {
    send: (client, name) =>
      client.post('/webhooks/manage', { url: `https://127.0.0.1/${name}`, events: ['deal.won'] }, { 'idempotency-key': name }),
    count: (name) => rows('select from webhooks where url = $1', `https://127.0.0.1/${name}`),
  },
  submitForm: {
    send: (client, name) =>
      client.post(`/forms/${form.id}/submit`, { data: { email: `${name}@example.com` } }, { 'idempotency-key': name }),
    count: (name) => rows("select from submissions where data ->> 'email' = $1", `${name}@example.com`),
  },
  createImport: {
    send: (client, name) =>
      client.post('/imports', { name: reversed(name), rows: [{ lastName: 'Imported' }] }, { 'idempotency-key': name }),
    count: (name) => rows('select from imports where name = $1 and total_rows > 0', reversed(name)),
  },
  'GraphQL, with what the reply reads besides': {
    send: async (client, name) => {
      const input = { url: `https://127.0.0.1/${name}`, events: ['deal.won'] };
      const text = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id url author { name } } } }';
      const reply = await client.gql(text, { input }, { 'idempotency-key': name });
      return { ...reply, status: reply.errors ? reply.errors[0].extensions.status : 201 } as unknown as Reply;
    },
    count: (name) => rows('select from webhooks where url = $1', `https://127.0.0.1/${name}`),
  },
};

const isReplay = ({ headers }: Reply) => headers['idempotent-replayed'] === 'true';

/** Sends it again until it is answered: while nobody knows the outcome, it may be in progress or the database away. */
const answered = async ({ send }: Kind, client: Client, name: string): Promise<Reply> =>
  (await eventually(async () => {
    const reply = await send(client, name);
    if (reply.status === 201) return reply;
    expect([409, 503]).toContain(reply.status);
    return undefined;
  }, 20_000)) as Reply;

onPostgres(describe)('under an Idempotency-Key', () => {
  beforeAll(async () => {
    house = await Alone.begin({ WEBHOOK_ALLOW_PRIVATE: '1' });
    proxy = await TcpProxy.before(house.databaseUrl!);
    database = new pg.Client(house.databaseUrl);
    await database.connect();
    form = dataOf(await house.caller.post('/forms', { name: 'Ask', fields: [{ key: 'email', type: 'email', label: 'E-mail' }] }));
    await begin();
  });
  afterAll(async () => {
    await asked.process.kill();
    await proxy.close();
    await database.end();
    await house.end();
  });

  describe.each(Object.entries(kinds))('%s', (_name, kind) => {
    it.each([
      ['the answer to its COMMIT', true],
      ['its COMMIT', false],
    ])('is done once where %s is lost with the connection', async (_what, arrives) => {
      const name = `lost-commit-${++nth}`;
      const lost = proxy.loseCommitOf(name, { arrives });
      const first = kind.send(asked.caller, name);
      await Promise.race([lost, first]);
      proxy.cut();
      expect((await first).status).toBe(503);
      const again = await answered(kind, asked.caller, name);
      expect([isReplay(again), await kind.count(name)]).toEqual([arrives, 1]);
      const later = await kind.send(asked.caller, name);
      expect([isReplay(later), later.body, await kind.count(name)]).toEqual([true, again.body, 1]);
    });

    it('is done once, and answered, where its process is killed at its COMMIT', async () => {
      const name = `killed-commit-${++nth}`;
      const lost = proxy.loseCommitOf(name, { arrives: true });
      const first = kind.send(asked.caller, name).catch((error: Error) => error);
      await Promise.race([lost, first]);
      await asked.process.kill();
      expect(String(await first)).toMatch(/ECONNRESET|hang up/);
      proxy.cut();
      await begin();
      const again = await answered(kind, asked.caller, name);
      expect([isReplay(again), await kind.count(name)]).toEqual([true, 1]);
    });
  });
});
