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
import { eventually } from '../support/live.js';
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

/** Runs something while no outcome can be kept. */
async function unkept<T>(table: string, when: string, work: () => Promise<T>): Promise<T> {
  const execute = (text: string) => api.app.database.execute(text);
  await execute(`create function test_unkept() returns trigger language plpgsql as $$ begin
    if ${when} then raise exception using errcode = '53100'; end if; return new; end $$;
    create trigger test_unkept before insert or update on ${table} for each row execute function test_unkept()`);
  try {
    return await work();
  } finally {
    await execute(`drop trigger test_unkept on ${table}; drop function test_unkept()`);
  }
}

describe('what ends with one transaction, and whose outcome cannot be kept in it', () => {
  it('is not done, and the key is free', async () => {
    const operation = fresh();
    const register = () => acme.owner.post('/webhooks/manage', { url: 'https://example.com/hook', events: ['deal.won'] }, named(operation));
    expectRefusal(await unkept('idempotency_keys', `new.state = 'done'`, register), 503);
    const [first, again] = [await register(), await register()];
    expect([first.status, isReplay(first), isReplay(again), again.body]).toEqual([201, false, true, first.body]);
    expect(dataOf(await acme.owner.get('/webhooks/manage')).data).toHaveLength(1);
  });

  it('is not done for somebody without credentials either', async () => {
    const form = dataOf(await acme.owner.post('/forms', { name: 'Ask', fields: [{ key: 'email', type: 'email', label: 'E-mail' }] }));
    const operation = fresh();
    const submit = () => api.anybody().post(`/forms/${form.id}/submit`, { data: { email: 'kept@example.com' } }, named(operation));
    expectRefusal(await unkept('public_outcomes', 'new.outcome is not null', submit), 503);
    const [first, again] = [await submit(), await submit()];
    expect([first.status, isReplay(first), isReplay(again), again.body]).toEqual([201, false, true, first.body]);
    const { rows } = await api.app.database.execute('select 1 from submissions where form_id = $1', [form.id]);
    expect(rows).toHaveLength(1);
  });

  it('is not done where another request has taken the key over meanwhile', async () => {
    const operation = fresh();
    const register = () => acme.owner.post('/webhooks/manage', { url: 'https://example.com/late', events: ['deal.won'] }, named(operation));
    const late = `create function test_late() returns trigger language plpgsql as $$ begin
        update idempotency_keys set created_at = created_at + interval '3 minutes' where key = '${operation}';
        return new; end $$;
      create trigger test_late before insert on webhooks for each row execute function test_late()`;
    await api.app.database.execute(late);
    const reply = await register();
    await api.app.database.execute('drop trigger test_late on webhooks; drop function test_late()');
    expect([reply.status, reply.body.code]).toEqual([409, 'send_in_progress']);
    const { rows } = await api.app.database.execute("select 1 from webhooks where url = 'https://example.com/late'");
    expect(rows).toHaveLength(0);
  });
});

describe('what is done in many transactions or none, and whose outcome could not be kept', () => {
  it('is answered, and not done again: the key is taken until it is kept', async () => {
    const { id } = await acme.contact();
    const { id: tagId } = await acme.tag('Bulk');
    const operation = fresh();
    const tag = () => key.post('/bulk/contacts/tag', { contactIds: [id], tagId }, named(operation));
    const first = await unkept('idempotency_keys', `new.state = 'done'`, async () => {
      const tagged = await tag();
      expect((await tag()).body.code).toBe('send_in_progress');
      return tagged;
    });
    expect(first.status).toBe(200);
    const again = await eventually(async () => {
      const reply = await tag();
      return isReplay(reply) ? reply : undefined;
    });
    expect(again!.body).toEqual(first.body);
  });

  it('of somebody without credentials neither', async () => {
    const { ownerEmail: email } = await api.seed.account();
    const operation = fresh();
    const forget = () => api.anybody().post('/auth/forgot-password', { email }, named(operation));
    const first = await unkept('public_outcomes', 'new.outcome is not null', async () => {
      const sent = await forget();
      expect((await forget()).body.code).toBe('send_in_progress');
      return sent;
    });
    expect(first.status).toBe(200);
    await eventually(async () => isReplay(await forget()));
    expect((await mailsTo(api, email)).filter(({ subject }) => subject === 'Reset your password')).toHaveLength(1);
  });
});

describe('an e-mail under an Idempotency-Key', () => {
  it('is one message, though its outcome could not be kept: the next request goes on with it', async () => {
    const { id: contactId } = await acme.contact({ email: 'kept.once@example.com' });
    const operation = fresh();
    const send = (subject: string) => key.post('/email/send', { contactId, subject, body: 'Hello' }, named(operation));
    const body = await unkept('idempotency_keys', `new.state = 'done'`, async () => {
      const first = await send('Offer');
      expect(first.body.data).toMatchObject({ status: 'sent', subject: 'Offer' });
      // As after two minutes: what a dead process left is taken over.
      await api.app.database.execute(`update idempotency_keys set created_at = created_at - interval '3 minutes' where key = $1`, [
        operation,
      ]);
      const second = await send('Offer');
      expect([second.status, isReplay(second)]).toEqual([first.status, false]);
      return second.body;
    });
    const listed = dataOf(await key.get(`/messages?contact_id=${contactId}`)).data;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([body.data.id]);
    expect(await mailsTo(api, 'kept.once@example.com')).toHaveLength(1);
    await eventually(async () => isReplay(await send('Offer')));
    expectRefusal(await send('Another'), 409);
    api.clock.advance(25 * hour);
    expect(dataOf(await send('Offer')).id).not.toBe(body.data.id);
    api.clock.reset();
  });
});
