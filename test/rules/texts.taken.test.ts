import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const execute = (text: string) => api.app.database.execute(text);
afterEach(async () => {
  await execute('drop trigger test_taken on messages');
  await execute('drop function test_taken()');
});

/** As a process does that works on what is due, and whose clock is far ahead: it has each text message before the request that keeps it. */
async function takenAtOnce(): Promise<void> {
  await execute(`create function test_taken() returns trigger language plpgsql as $$ begin
    new.attempt := new.attempt + 1; new.leased_until := now() + interval '1 minute'; return new; end $$`);
  await execute(
    "create trigger test_taken before insert on messages for each row when (new.channel = 'sms') execute function test_taken()",
  );
}

describe('POST /messages/sms/send, where who works on what is due takes the message first', () => {
  it.each<[string, Record<string, string>]>([
    ['without a key', {}],
    ['under an Idempotency-Key', { 'Idempotency-Key': 'taken at once' }],
  ])('answers it as it is: %s', async (_how, headers) => {
    const { id: contactId } = await acme.contact({ phone: '+14155550188' });
    await takenAtOnce();
    const reply = await acme.owner.post('/messages/sms/send', { contactId, body: 'Hello' }, headers);
    expect([reply.status, dataOf(reply).status]).toEqual([201, 'queued']);
  });

  it('says to who repeats it that it is being sent', async () => {
    const { id: contactId } = await acme.contact({ phone: '+14155550188' });
    await takenAtOnce();
    const send = () => acme.owner.post('/messages/sms/send', { contactId, body: 'Hello', idempotencyKey: 'taken-by-another' });
    expect((await send()).status).toBe(201);
    const again = await send();
    expect([again.status, again.body.code]).toEqual([409, 'send_in_progress']);
  });
});
