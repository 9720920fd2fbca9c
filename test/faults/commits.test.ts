import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Alone } from '../support/alone.js';
import { type Client, dataOf, type Loose, onPostgres, type Reply } from '../support/index.js';
import { eventually } from '../support/live.js';
import { TcpProxy } from '../support/proxy.js';

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
  /** Makes what it is about. */
  prepare?(name: string): Promise<unknown>;
  send(client: Client, name: string): Promise<Reply>;
  count(name: string): Promise<number | null>;
  /** Whether its parts are noted as they are done, and a retry goes on behind them: what it answers is kept after them. */
  goesOn?: boolean;
  /** How many transactions name its key before the one whose COMMIT is lost. */
  after?: number;
}

/** What was made for a name. */
const made = new Map<string, Loose>();
const at = (name: string) => made.get(name)!;
const keyed = (name: string) => ({ 'idempotency-key': name, 'x-client-mutation-id': name });

async function aFlow(name: string): Promise<Loose> {
  const [{ number }] = dataOf(await house.caller.get('/settings/numbers/available'));
  dataOf(await house.caller.post('/settings/numbers', { number }));
  const flow = dataOf(await house.caller.post('/call-flows', { name, phoneNumber: number }));
  made.set(name, flow);
  return flow;
}
const publish = (client: Client, { id, updatedAt }: Loose, headers = {}) =>
  client.post(`/call-flows/${id}/publish`, { expectedUpdatedAt: updatedAt }, headers);
const generation = async () => (await database.query('select generation from vendor_connections')).rows[0]?.generation ?? 0;

const inParts: Record<string, Kind> = {
  'a bulk deletion': {
    prepare: async (name) => made.set(name, dataOf(await house.caller.post('/contacts', { firstName: name }))),
    send: (client, name) => client.post('/bulk/contacts/delete', { ids: [at(name).id] }, keyed(name)),
    count: async (name) => {
      // As it was answered, and as it is.
      const { body } = await inParts['a bulk deletion']!.send(asked.caller, name);
      return body.data.succeeded && rows('select from contacts where first_name = $1 and deleted_at is not null', name);
    },
    goesOn: true,
  },
  'a bulk edit of what a filter finds': {
    prepare: async (name) => made.set(name, dataOf(await house.caller.post('/contacts', { firstName: name, city: 'Oslo' }))),
    send: (client, name) => {
      const filters = {
        and: [
          { field: 'firstName', op: 'eq', value: name },
          { field: 'city', op: 'eq', value: 'Oslo' },
        ],
      };
      return client.post('/bulk/contacts/edit', { filters, changes: { city: 'Bergen' } }, keyed(name));
    },
    count: async (name) => {
      const { body } = await inParts['a bulk edit of what a filter finds']!.send(asked.caller, name);
      return body.data.succeeded && rows("select from contacts where first_name = $1 and city = 'Bergen'", name);
    },
    goesOn: true,
  },
  'the publication of a call flow': {
    prepare: aFlow,
    send: (client, name) => publish(client, at(name), keyed(name)),
    count: (name) => rows('select from call_flow_versions v join call_flows f on f.id = v.call_flow_id where f.name = $1', name),
    goesOn: true,
  },
  'the end of a publication, after which the number is given back': {
    prepare: async (name) => dataOf(await publish(house.caller, await aFlow(name))),
    send: (client, name) => client.post(`/call-flows/${at(name).id}/unpublish`, {}, keyed(name)),
    count: (name) =>
      rows(
        `select from call_flow_tombstones d join call_flows f on f.id = d.call_flow_id where f.name = $1
         and d.released_at is not null and f.published_version is null`,
        name,
      ),
    goesOn: true,
  },
};

// Only the transaction that ends an import is to be known by its key.
const reversed = (name: string) => [...name].reverse().join('');

/** An answer of GraphQL with the status that it is about. */
const inRest = (reply: Awaited<ReturnType<Client['gql']>>, done: number) =>
  ({ ...reply, status: reply.errors ? reply.errors[0].extensions.status : done }) as unknown as Reply;

const kinds: Record<string, Kind> = {
  ...inParts,
  'the connection of a vendor of lines': {
    prepare: async (name) => made.set(name, { generation: await generation() }),
    send: async (client, name) => {
      const text = 'mutation { connectVendorLine(input: { apiKey: "line_acme" }) { status apiKey } }';
      return inRest(await client.gql(text, {}, keyed(name)), 200);
    },
    count: async (name) => (await generation()) - at(name).generation,
  },
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
    goesOn: true,
  },
  'createImport, with all its rows': {
    send: (client, name) => kinds.createImport!.send(client, name),
    count: (name) => kinds.createImport!.count(name),
    after: 1,
  },
  'GraphQL, with what the reply reads besides': {
    send: async (client, name) => {
      const input = { url: `https://127.0.0.1/${name}`, events: ['deal.won'] };
      const text = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { secret webhook { id url author { name } } } }';
      const reply = await client.gql(text, { input }, { 'idempotency-key': name });
      return inRest(reply, 201);
    },
    count: (name) => rows('select from webhooks where url = $1', `https://127.0.0.1/${name}`),
  },
};

const isReplay = ({ headers }: Reply) => headers['idempotent-replayed'] === 'true';

/** Sends it again until it is answered: while nobody knows the outcome, it may be in progress or the database away. */
const answered = async ({ send }: Kind, client: Client, name: string): Promise<Reply> =>
  (await eventually(async () => {
    const reply = await send(client, name);
    if (reply.status < 300) return reply;
    expect([409, 503]).toContain(reply.status);
    return undefined;
  }, 60_000)) as Reply;

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
      await kind.prepare?.(name);
      const lost = proxy.loseCommitOf(name, { arrives, after: kind.after });
      const first = kind.send(asked.caller, name);
      await Promise.race([lost, first]);
      proxy.cut();
      expect((await first).status).toBe(503);
      const again = await answered(kind, asked.caller, name);
      expect([isReplay(again), await kind.count(name)]).toEqual([arrives && !kind.goesOn, 1]);
      const later = await kind.send(asked.caller, name);
      expect([isReplay(later), later.body, await kind.count(name)]).toEqual([true, again.body, 1]);
    });

    it('is done once, and answered, where its process is killed at its COMMIT', async () => {
      const name = `killed-commit-${++nth}`;
      await kind.prepare?.(name);
      const lost = proxy.loseCommitOf(name, { arrives: true, after: kind.after });
      const first = kind.send(asked.caller, name).catch((error: Error) => error);
      await Promise.race([lost, first]);
      await asked.process.kill();
      expect(String(await first)).toMatch(/ECONNRESET|hang up/);
      proxy.cut();
      await begin();
      // Its claim is a dead process's, for two minutes.
      if (kind.goesOn) await rows("update idempotency_keys set created_at = created_at - interval '3 minutes' where key = $1", name);
      const again = await answered(kind, asked.caller, name);
      expect([isReplay(again), await kind.count(name)]).toEqual([!kind.goesOn, 1]);
    });
  });
});
