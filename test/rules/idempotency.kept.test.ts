import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectRefusal, hour, type KeyClient, type Reply, server, type TestServer } from '../support/index.js';
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
const isReplay = ({ headers }: { headers: Reply['headers'] }) => headers['idempotent-replayed'] === 'true';

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
