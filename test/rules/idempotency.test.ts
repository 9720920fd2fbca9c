import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  expectRefusal,
  hour,
  type KeyClient,
  minute,
  type Reply,
  second,
  server,
  type TestServer,
} from '../support/index.js';
import { mailsTo } from '../support/mail.js';

let api: TestServer;
let acme: Account;
let key: KeyClient;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
  key = await acme.key();
});
afterAll(() => api.close());

let nth = 0;
const fresh = () => `operation-${++nth}`;
const named = (idempotencyKey: string) => ({ 'idempotency-key': idempotencyKey });
const create = (lastName: string, idempotencyKey: string, client: Client = key) =>
  client.post('/contacts', { lastName }, named(idempotencyKey));
const isReplay = ({ headers }: { headers: Reply['headers'] }) => headers['idempotent-replayed'] === 'true';

async function contactsCalled(lastName: string): Promise<number> {
  const { rows } = await api.app.database.execute('select id from contacts where last_name = $1', [lastName]);
  return rows.length;
}

describe('a request with an Idempotency-Key', () => {
  it('takes effect once; the same request is answered with the same outcome', async () => {
    const operation = fresh();
    const first = await create('Once', operation);
    const again = await create('Once', operation);
    expect([first.status, isReplay(first), again.status, isReplay(again)]).toEqual([201, false, 201, true]);
    expect(again.body).toEqual(first.body);
    expect(await contactsCalled('Once')).toBe(1);
    const { rows } = await api.app.database.execute('select id from outbox_events where entity_id = $1', [first.body.data.id]);
    expect(rows).toHaveLength(1);
  });

  it('is answered with what was, though the record has changed or gone', async () => {
    const operation = fresh();
    const { body } = await create('Before', operation);
    dataOf(await key.patch(`/contacts/${body.data.id}`, { lastName: 'After' }));
    dataOf(await key.del(`/contacts/${body.data.id}`));
    expect((await create('Before', operation)).body).toEqual(body);
  });

  it('does the same through GraphQL', async () => {
    const operation = fresh();
    const send = (lastName: string) =>
      key.gql('mutation ($i: CreateContactInput!) { createContact(input: $i) { id lastName } }', { i: { lastName } }, named(operation));
    const first = await send('Once in a graph');
    const again = await send('Once in a graph');
    expect(first.errors).toBeUndefined();
    expect([isReplay(first), isReplay(again), again.data]).toEqual([false, true, first.data]);
    expect(await contactsCalled('Once in a graph')).toBe(1);
    expect((await send('Another')).errors?.[0].extensions).toMatchObject({ code: 'operation_key_conflict', status: 409 });
  });

  it('is refused when the key was used for another request', async () => {
    const operation = fresh();
    await create('First', operation);
    const others = [() => create('Other', operation), () => key.post('/tags', { name: 'First' }, named(operation))];
    for (const other of others) {
      const reply = await other();
      expect([reply.status, reply.body.code]).toEqual([409, 'operation_key_conflict']);
    }
    expect(await contactsCalled('Other')).toBe(0);
  });

  it('is free to be put right when it failed', async () => {
    const operation = fresh();
    expectRefusal(await key.post('/contacts', { jobTitle: 'nameless' }, named(operation)), 400);
    expectRefusal(await key.post('/contacts', { lastName: 'x'.repeat(101) }, named(operation)), 400, 'lastName');
    expect((await create('Put right', operation)).status).toBe(201);
  });

  it('takes effect once when it comes twenty times at once', async () => {
    const operation = fresh();
    const replies = await Promise.all(Array.from({ length: 20 }, () => create('Crowd', operation)));
    const made = replies.filter((reply) => reply.status === 201);
    const early = replies.filter((reply) => reply.status === 409);
    expect(made.length + early.length).toBe(20);
    expect(new Set(early.map(({ body }) => body.code))).toEqual(new Set(early.length > 0 ? ['send_in_progress'] : []));
    expect(made.filter((reply) => !isReplay(reply))).toHaveLength(1);
    expect(new Set(made.map(({ body }) => body.data.id)).size).toBe(1);
    expect(await contactsCalled('Crowd')).toBe(1);
  });
});

describe('an Idempotency-Key', () => {
  it('has 8 to 200 characters', async () => {
    for (const length of [1, 7, 201, 1000]) expectRefusal(await create('Length', 'k'.repeat(length)), 400, 'Idempotency-Key');
    for (const length of [8, 200]) expect((await create('Length', 'k'.repeat(length))).status).toBe(201);
  });

  it('belongs to its caller: a person in all sessions, a key for itself, an account for itself', async () => {
    const operation = fresh();
    const other = await acme.login();
    const rival = await api.seed.account();
    expect(isReplay(await create('Mine', operation))).toBe(false);
    expect(isReplay(await create('Mine', operation, acme.owner))).toBe(false);
    expect(isReplay(await create('Mine', operation, other))).toBe(true);
    expect(isReplay(await create('Mine', operation, await acme.key()))).toBe(false);
    expect(isReplay(await create('Mine', operation, rival.owner))).toBe(false);
    expect(await contactsCalled('Mine')).toBe(4);
  });

  it('shows nothing to a caller whose rights have gone', async () => {
    const operation = fresh();
    const reader = await acme.key({ permission: 'read-write' });
    await create('Rights', operation, reader);
    dataOf(await acme.owner.patch(`/api-keys/${reader.record.id}`, { permission: 'read' }));
    api.clock.advance(2 * second);
    expectRefusal(await create('Rights', operation, reader), 403);
  });

  it('means nothing to what may be repeated anyway', async () => {
    const { id } = await acme.contact();
    const operation = fresh();
    for (const lastName of ['One', 'Two']) {
      const reply = await key.patch(`/contacts/${id}`, { lastName }, named(operation));
      expect([reply.body.data.lastName, isReplay(reply)]).toEqual([lastName, false]);
    }
    for (const query of ['{ tags { totalCount } }', '{ contacts { totalCount } }']) {
      expect((await key.gql(query, undefined, named(operation))).errors).toBeUndefined();
    }
  });

  it('is kept for twenty-four hours', async () => {
    const operation = fresh();
    await create('Day', operation);
    api.clock.advance(24 * hour - minute);
    expect(isReplay(await create('Day', operation))).toBe(true);
    api.clock.advance(minute + second);
    const later = await create('Day', operation);
    expect([later.status, isReplay(later), await contactsCalled('Day')]).toEqual([201, false, 2]);
    expect(isReplay(await create('Day', operation))).toBe(true);
  });

  it('does not keep a secret in the clear', async () => {
    const operation = fresh();
    const made = dataOf(await acme.owner.post('/api-keys', { name: 'kept', permission: 'read' }, named(operation)));
    expect(dataOf(await acme.owner.post('/api-keys', { name: 'kept', permission: 'read' }, named(operation))).key).toBe(made.key);
    const { rows } = await api.app.database.execute('select to_jsonb(k)::text as text from idempotency_keys k');
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(made.key);
  });
});

describe('an operation that manages its own transactions', () => {
  const invite = (email: string, operation: string) => acme.owner.post('/users/invite', { email }, named(operation));
  const mails = async (to: string) => (await mailsTo(api, to)).length;

  it('takes effect once as well', async () => {
    const operation = fresh();
    const first = await invite('once@example.com', operation);
    const again = await invite('once@example.com', operation);
    expect([first.status, again.status, isReplay(again), again.body]).toEqual([201, 201, true, first.body]);
    expect(await mails('once@example.com')).toBe(1);
    expect((await invite('other@example.com', operation)).body.code).toBe('operation_key_conflict');
  });

  it('takes effect once when it comes ten times at once', async () => {
    const operation = fresh();
    const replies = await Promise.all(Array.from({ length: 10 }, () => invite('crowd@example.com', operation)));
    for (const { status, body } of replies) expect([201, 'send_in_progress']).toContain(status === 201 ? 201 : body.code);
    expect(replies.filter((reply) => reply.status === 201 && !isReplay(reply))).toHaveLength(1);
    expect(await mails('crowd@example.com')).toBe(1);
  });

  it('is free to be put right when it failed', async () => {
    const operation = fresh();
    expect((await invite(acme.ownerEmail, operation)).status).toBe(422);
    expect((await invite('right@example.com', operation)).status).toBe(201);
  });

  it('is in progress for two minutes after its process died, and then done again', async () => {
    const operation = fresh();
    await invite('dead@example.com', operation);
    const claimedFor = (seconds: number) =>
      api.app.database.execute(
        `update idempotency_keys set state = 'running', response = null, created_at = now() - make_interval(secs => $1::int) where key = $2`,
        [seconds, operation],
      );
    await claimedFor(110);
    expect((await invite('dead@example.com', operation)).body.code).toBe('send_in_progress');
    await claimedFor(121);
    const again = await invite('dead@example.com', operation);
    expect([again.status, isReplay(again)]).toEqual([201, false]);
    expect(isReplay(await invite('dead@example.com', operation))).toBe(true);
  });
});
