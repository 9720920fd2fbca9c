import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import pg from 'pg';
import WebSocket from 'ws';
import { type Account, type Client, dataOf, type Loose, onPostgres, type Reply, server, type TestServer } from '../support/index.js';
import { bearer, eventually } from '../support/live.js';
import { TcpProxy } from '../support/proxy.js';

/** How long after a fault the server may still say that it is unavailable. */
const recovery = 5000;

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Served, or told to come again: nothing else, and never a 500 (which `Client` does not let pass). */
function expectServedOrUnavailable(replies: Reply[]) {
  const odd = replies.filter(({ status, headers, body }) => {
    const told = status === 503 && Number(headers['retry-after']) >= 1 && body.code === 'unavailable';
    return !told && status !== 200 && status !== 201;
  });
  expect(odd.map(({ status, text }) => `${status} ${text}`)).toEqual([]);
}

/** Asks until it is served; fails when that takes too long. */
async function expectRecovery(client: Client) {
  const begun = Date.now();
  for (;;) {
    const reply = await client.get('/tags');
    expectServedOrUnavailable([reply]);
    if (reply.status === 200) return;
    expect(Date.now() - begun).toBeLessThan(recovery);
  }
}

let direct: TestServer;
let proxy: TcpProxy;
let api: TestServer;
let admin: pg.Client;
let acme: Account;
let key: Client;
let secret: string;

const probe = async (path: string) => (await api.anybody().raw({ path })).status;

const kill = () =>
  admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'crm-server' and pid <> pg_backend_pid()`);

/** Reads and writes under way while the fault strikes; every acknowledged write must be there afterwards. */
async function storm(rounds: number, fault: () => unknown) {
  const acknowledged: string[] = [];
  for (const round of numbers(rounds)) {
    const work = numbers(24).map(async (i) => {
      if (i % 2) return key.get('/contacts');
      const lastName = `${fault.name} ${round} ${i} ${Math.random()}`;
      const reply = await key.post('/contacts', { lastName });
      if (reply.status === 201) acknowledged.push(lastName);
      return reply;
    });
    await Promise.race(work);
    await fault();
    expectServedOrUnavailable(await Promise.all(work));
    expect(await probe('/healthz')).toBe(200);
  }
  await expectRecovery(key);
  const { rows } = await admin.query('select last_name as name from contacts where last_name like $1', [`${fault.name} %`]);
  const kept = new Set(rows.map(({ name }) => name));
  expect(acknowledged.filter((name) => !kept.has(name))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(0);
  // Each with its audit row and its event, or not at all.
  const { rows: half } = await admin.query(
    `select c.id from contacts c where c.last_name like $1 and (
      not exists (select 1 from activities a where a.account_id = c.account_id and a.entity_id = c.id)
      or not exists (select 1 from outbox_events o where o.account_id = c.account_id and o.entity_id = c.id))`,
    [`${fault.name} %`],
  );
  expect(half).toEqual([]);
}

onPostgres(describe)('PostgreSQL', () => {
  beforeAll(async () => {
    direct = await server();
    const url = direct.place.databaseUrl!;
    proxy = await TcpProxy.before(url);
    api = await server({ beside: direct, config: { databaseUrl: proxy.through(url) } });
    admin = new pg.Client(url);
    await admin.connect();
    acme = await direct.seed.account();
    ({ secret } = await acme.key());
    key = api.anybody().with({ authorization: `Bearer ${secret}` });
    expect((await key.get('/tags')).status).toBe(200);
  });
  afterAll(async () => {
    await admin.end();
    await api.close();
    await proxy.close();
    await direct.close();
  });

  afterEach(() => proxy.heal());

  describe('under faults', faults);
  describe('away', away);
  describe('under strain', strain);
});

function faults() {
  it('that ends every connection costs the requests under way, and none besides', async () => {
    await storm(5, async function terminate() {
      await kill();
    });
  });

  it('that the network cuts off costs no more', async () => {
    await storm(5, function cut() {
      proxy.cut();
    });
  });

  it('that is not there makes every request a 503, and the server not ready', async () => {
    proxy.refuse();
    const replies = await Promise.all(numbers(10).flatMap(() => [key.get('/tags'), key.post('/contacts', { lastName: 'Lost' })]));
    expectServedOrUnavailable(replies);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
    const payload = JSON.stringify({ query: '{ tags { totalCount } }' });
    const { body } = await key.raw({ method: 'POST', path: '/graphql', payload, headers: { 'content-type': 'application/json' } });
    // Who calls is known for a second: after that the request is refused before GraphQL has it, in the same body.
    expect(body.errors[0].extensions).toMatchObject({ code: 'unavailable', status: 503, retryAfter: 1 });
    const subscription = JSON.stringify({ query: 'subscription { events { id } }' });
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
    expect((await key.raw({ method: 'POST', path: '/graphql/stream', payload: subscription, headers })).status).toBe(503);
    expect([await probe('/healthz'), await probe('/readyz')]).toEqual([200, 503]);
    proxy.heal();
    await expectRecovery(key);
  });

  it('that is half-open, and answers nothing, is given up on', async () => {
    await Promise.all(numbers(8).map(() => key.get('/tags')));
    proxy.hang();
    const begun = Date.now();
    const asked = Promise.all(numbers(12).map(() => key.get('/tags')));
    expect(await probe('/healthz')).toBe(200);
    const replies = await asked;
    expectServedOrUnavailable(replies);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Date.now() - begun).toBeLessThan(12_000);
    // What hung stays dead: only new connections are taken.
    proxy.cut();
    proxy.heal();
    await expectRecovery(key);
  });
}

function away() {
  it('that is not there ends no subscription for good: its socket closes, and the client comes back', async () => {
    const [heard, refused, closed]: [unknown[], unknown[], number[]] = [[], [], []];
    const sockets: WebSocket[] = [];
    const client = createClient({
      url: `ws://127.0.0.1:${api.wire.port}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: bearer({ secret }),
      ...{ retryAttempts: Number.POSITIVE_INFINITY, shouldRetry: () => true },
      retryWait: () => new Promise((resume) => setTimeout(resume, 100)),
      on: { connected: (socket) => sockets.push(socket as WebSocket), closed: (event) => closed.push((event as CloseEvent).code) },
    });
    const sink = {
      next: ({ data }: Loose) => heard.push(data.contactEvents),
      error: (error: unknown) => refused.push(error),
      complete() {},
    };
    const stop = client.subscribe({ query: 'subscription { contactEvents(ready: true) { name contact { lastName } } }' }, sink);
    await eventually(() => heard.length === 1);
    proxy.refuse();
    sockets[0]!.terminate();
    // Who calls is known for a second: at first the subscription cannot begin, then nobody can connect.
    await eventually(() => closed.filter((code) => code === 1001).length >= 12);
    expect(refused).toEqual([]);
    proxy.heal();
    await eventually(() => heard.length === 2);
    dataOf(await key.post('/contacts', { lastName: 'Heard' }));
    await eventually(() => heard.length === 3);
    expect(heard[2]).toEqual({ name: 'contact.created', contact: { lastName: 'Heard' } });
    stop();
  });
}

function strain() {
  it('whose connections are all taken makes requests wait two seconds and no longer', async () => {
    const holders = numbers(20).map(() => api.app.database.execute('select pg_sleep(4.5)').catch(() => {}));
    const timed = async (work: () => Promise<unknown>) => {
      const begun = performance.now();
      await work();
      return performance.now() - begun;
    };
    const waits: number[] = [];
    const requests = numbers(5).map(async () => {
      waits.push(
        await timed(async () => {
          // A filtered list: what is planned once has connections of its own.
          const reply = await key.get('/contacts?search=strained');
          expect([reply.status, reply.body.code]).toEqual([503, 'unavailable']);
        }),
      );
    });
    const pulses: number[] = [];
    for (let i = 0; i < 30; i++) pulses.push(await timed(async () => expect(await probe('/healthz')).toBe(200)));
    await Promise.all(requests);
    expect(Math.max(...waits)).toBeLessThan(3000);
    expect(pulses.sort((a, b) => a - b)[15]).toBeLessThan(100);
    await Promise.all(holders);
    await expectRecovery(key);
  });

  it('where somebody holds a row makes its writers wait two seconds and no longer', async () => {
    const { id } = await acme.contact();
    await admin.query('begin');
    await admin.query('select 1 from contacts where id = $1 for update', [id]);
    const begun = Date.now();
    const reply = await key.patch(`/contacts/${id}`, { firstName: 'Late' });
    await admin.query('rollback');
    expect([reply.status, reply.body.code]).toEqual([503, 'unavailable']);
    expect(Date.now() - begun).toBeLessThan(4000);
    expect((await key.patch(`/contacts/${id}`, { firstName: 'Late' })).status).toBe(200);
  });
}

describe('a transaction that the database wants again', () => {
  let own: TestServer;
  let caller: Client;
  beforeAll(async () => {
    own = await server();
    caller = await (await own.seed.account()).key();
    await own.app.database.execute(`
      create sequence faults;
      create table fault_plan (code text, until bigint);
      create function fail() returns trigger language plpgsql as $$
      declare plan fault_plan;
      begin
        select * into plan from fault_plan;
        if found and nextval('faults') <= plan.until then raise exception using errcode = plan.code; end if;
        return new;
      end $$;
      create trigger fail before insert on tags for each row execute function fail();`);
  });
  afterAll(() => own.close());

  const plan = (code: string, until: number) =>
    own.app.database.execute(
      `delete from fault_plan; select setval('faults', 1, false); insert into fault_plan values ('${code}', ${until})`,
    );
  const eventsOf = async (id: string) =>
    (await own.app.database.execute('select name from outbox_events where entity_id = $1', [id])).rows.length;

  it.each(['40001', '40P01'])('is tried again (%s), and takes effect once', async (code) => {
    await plan(code, 2);
    const name = `second thoughts ${code}`;
    const tag = dataOf(await caller.post('/tags', { name }));
    const { rows } = await own.app.database.execute('select id from tags where name = $1', [name]);
    expect(rows).toEqual([{ id: tag.id }]);
    expect(await eventsOf(tag.id)).toBe(1);
  });

  it.each(['40001', '40P01'])('is not tried for ever (%s)', async (code) => {
    await plan(code, 1000);
    const reply = await caller.post('/tags', { name: `never ${code}` });
    expect([reply.status, reply.body.code, reply.headers['retry-after']]).toEqual([503, 'unavailable', '1']);
    const { rows } = await own.app.database.execute('select last_value::int as tries from faults');
    expect(rows).toEqual([{ tries: 3 }]);
    const gql = await caller.gql(`mutation { createTag(input: { name: "never either" }) { id } }`);
    expect(gql.errors?.[0].extensions.code).toBe('unavailable');
  });

  it.each(['57014', '55P03', '53300', '53200', '53100', '25006'])(
    'is unavailable for want of time, locks, connections, memory or room (%s)',
    async (code) => {
      await plan(code, 1000);
      const reply = await caller.post('/tags', { name: `not now ${code}` });
      expect([reply.status, reply.body.code]).toEqual([503, 'unavailable']);
    },
  );
});
