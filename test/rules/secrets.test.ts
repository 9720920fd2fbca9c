import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { freeNumber } from '../contract/samples.talk.js';
import { aFlow, publish, simulatorOf } from '../support/callFlows.js';
import { Client, dataOf, type Loose, type Raw, type Reply, second, server, type TestServer } from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

/** Everything that the server has said to anybody. */
const heard: string[] = [];

class Witness extends Client {
  override async raw(raw: Raw): Promise<Reply> {
    const reply = await super.raw(raw);
    heard.push(`${JSON.stringify(reply.headers)}\n${reply.text}`);
    return reply;
  }
}

const passwords = {
  first: 'canary password one ☂',
  wrong: 'canary password two ☂',
  changed: 'canary password three ☂',
  reset: 'canary password four ☂',
  invited: 'canary password five ☂',
};

let api: TestServer;
/** Secrets by name, and how many replies may show them. */
const canaries: Record<string, { text: string; replies: number }> = {};
const plant = (name: string, text: string, replies: number) => {
  canaries[name] = { text, replies };
};

const witness = () => new Witness(api.wire);
const email = 'canary@example.com';

const sessions: string[] = [];
const noted = (client: Client) => {
  sessions.push(client.cookie!);
  return client;
};

async function login(password: string, code?: string): Promise<Client> {
  const client = witness();
  const { mfaToken } = dataOf(await client.post('/auth/login', { email, password }));
  if (mfaToken) {
    plant('token of the first step', mfaToken, 1);
    dataOf(await client.post('/auth/mfa/verify', { mfaToken, code }));
  }
  return noted(client);
}

/** Every way on which a secret comes in or is made. */
async function live(): Promise<Client> {
  const owner = witness();
  dataOf(await owner.post('/auth/register', { email, password: passwords.first, accountName: 'Canary' }));
  noted(owner);
  const { key } = dataOf(await owner.post('/api-keys', { name: 'canary', permission: 'admin' }));
  plant('API key', key, 1);
  dataOf(await owner.post('/auth/change-password', { currentPassword: passwords.first, newPassword: passwords.changed }));
  dataOf(await owner.post('/users/invite', { email: 'invited@example.com' }));
  plant('invitation', await tokenMailed(api, 'invited@example.com', 'accept-invite'), 0);
  dataOf(await noted(witness()).post('/auth/accept-invite', { token: canaries.invitation!.text, password: passwords.invited }));
  dataOf(await witness().post('/auth/forgot-password', { email }));
  plant('reset token', await tokenMailed(api, email, 'reset-password'), 0);
  dataOf(await witness().post('/auth/reset-password', { token: canaries['reset token']!.text, password: passwords.reset }));
  const again = await login(passwords.reset);
  const { secret } = dataOf(await again.post('/auth/mfa/setup', { password: passwords.reset }));
  plant('secret of the second factor', secret, 1);
  const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now().getTime() });
  const { recoveryCodes } = dataOf(await again.post('/auth/mfa/enable', { code: code() }));
  for (const [i, text] of recoveryCodes.entries()) plant(`recovery code ${i}`, text, 1);
  api.clock.advance(30 * second);
  const last = await login(passwords.reset, code());
  const keyed = witness().with({ authorization: `Bearer ${key}` });
  for (const path of ['/api-keys', '/api-keys/check', '/users', '/auth/me', '/activities', '/events?after=0']) {
    await last.get(path);
    const reply = await keyed.get(path);
    heard.push(reply.text);
  }
  return last;
}

/** Every way on which what came in may come back: in an error. */
async function stumble(caller: Client): Promise<void> {
  const wrong = { email, password: passwords.wrong };
  await witness().post('/auth/login', wrong);
  await witness().post('/auth/login', { ...wrong, accountId: 'no uuid', email: 1 });
  await witness().post('/auth/register', { ...wrong, email: 'no address' });
  await witness().post('/auth/register', { ...wrong, accountName: [passwords.wrong] });
  await witness().post('/auth/login', { email, password: { value: passwords.wrong } });
  await witness().post('/auth/login', { email, [passwords.wrong]: 1 });
  const json = { 'content-type': 'application/json' };
  await witness().raw({
    method: 'POST',
    path: '/api/v1/auth/login',
    payload: `{"email":"${email}","password":"${passwords.wrong}"`,
    headers: json,
  });
  await caller.post('/auth/change-password', { currentPassword: passwords.wrong, newPassword: passwords.wrong });
  await caller.post('/auth/mfa/disable', { password: passwords.wrong });
  await witness().post('/auth/reset-password', { token: canaries['reset token']!.text, password: passwords.wrong });
  const document = 'mutation ($i: LoginInput!) { login(input: $i) { role } }';
  for (const i of [wrong, { ...wrong, email: 1 }, { password: [passwords.wrong] }, passwords.wrong])
    await witness().gql(document, { i } as Loose);
  await witness().gql(`mutation { login(input: { email: 1, password: "${passwords.wrong}", other: 2 }) { role } }`);
  const { text } = canaries['API key']!;
  for (const authorization of [`Bearer ${text}x`, `Basic ${text}`, text]) await witness().get('/contacts', { authorization });
  await witness().get(`/contacts?api_key=${text}&search=${encodeURIComponent(passwords.wrong)}`);
  await witness().raw({ path: '/metrics' });
}

/** The database fails in the middle of it all, and the fault is logged. */
async function fall(): Promise<void> {
  await api.app.database.execute(`
    create function fall() returns trigger language plpgsql as $$ begin raise exception 'fallen'; end $$;
    create trigger fall before insert on sessions for each row execute function fall();
    create trigger fall before insert on users for each row execute function fall();
    create trigger fall before insert on tokens for each row execute function fall();
    create trigger fall before insert on api_keys for each row execute function fall();`);
  const body = { email: 'fall@example.com', password: passwords.wrong, accountName: 'Fall' };
  await expect(witness().post('/auth/register', body)).rejects.toThrow('500');
  await expect(witness().post('/auth/login', { email: 'invited@example.com', password: passwords.invited })).rejects.toThrow('500');
  await expect(witness().post('/auth/login', { email, password: passwords.reset })).rejects.toThrow('500');
}

async function dump(): Promise<string> {
  const { execute } = api.app.database;
  const { rows } = await execute(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const texts = [];
  for (const { name } of rows as { name: string }[]) {
    const found = await execute(`select to_jsonb(t)::text as text from ${name} t`);
    texts.push(...(found.rows as { text: string }[]).map(({ text }) => `${name} ${text}`));
  }
  return texts.join('\n');
}

describe('secrets', () => {
  let stored: string;
  beforeAll(async () => {
    api = await server();
    api.app.log.level = 'trace';
    for (const [name, text] of Object.entries(passwords)) plant(`${name} password`, text, 0);
    plant('the server’s own key', api.app.config.secretKey, 0);
    const caller = await live();
    await stumble(caller);
    stored = await dump();
    await fall();
  }, 120_000);
  afterAll(() => api.close());

  it('were all planted', () => {
    expect(Object.keys(canaries).length).toBeGreaterThan(18);
    expect(sessions.filter(Boolean)).toHaveLength(sessions.length - 1);
    expect(stored).toContain(email);
    expect(api.logs.join('')).toContain('fallen');
    expect(heard.length).toBeGreaterThan(40);
  });

  it('are not in the database', () => {
    const found = Object.entries(canaries).filter(([, { text }]) => stored.includes(text) || stored.includes(encodeURIComponent(text)));
    expect(found.map(([name]) => name)).toEqual([]);
    expect(sessions.filter((token) => token && stored.includes(token))).toEqual([]);
  });

  it('are not in the log, whatever goes wrong', () => {
    const logged = api.logs.join('');
    expect(
      Object.entries(canaries)
        .filter(([, { text }]) => logged.includes(text))
        .map(([name]) => name),
    ).toEqual([]);
    expect(sessions.filter((token) => token && logged.includes(token))).toEqual([]);
  });

  it('are in no reply but the one that reveals them', () => {
    const shown = Object.entries(canaries).map(([name, { text }]) => [name, heard.filter((reply) => reply.includes(text)).length]);
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(Object.entries(canaries).map(([name, { replies }]) => [name, replies])));
  });

  it('of sessions travel in Set-Cookie alone', () => {
    const bodies = heard.map((reply) => reply.slice(reply.indexOf('\n')));
    const headers = heard.map((reply) => reply.slice(0, reply.indexOf('\n')).replace(/"set-cookie":\[[^\]]*\]/, ''));
    expect(sessions.filter((token) => token && [...bodies, ...headers].some((text) => text.includes(token)))).toEqual([]);
  });
});

describe('the credentials of a vendor', () => {
  it('are neither in the log nor in an answer where it cannot be reached', async () => {
    const own = await server();
    own.app.log.level = 'trace';
    const account = await own.seed.account();
    const { accountSid, authToken } = await simulatorOf(own).config();
    const phoneNumber = await freeNumber(account);
    const flow = await aFlow(account, { phoneNumber });
    dataOf(await publish(account, flow));
    simulatorOf(own).close();
    const wiring = dataOf(await account.owner.get(`/call-flows/${flow.id}/wiring`));
    expect(wiring.error).toMatch(/^Twilio (could not be reached|did not answer) \(ECONN[A-Z]+\)$/);
    dataOf(await account.owner.post(`/call-flows/${flow.id}/unpublish`));
    const logged = own.logs.join('');
    expect(logged).toContain('a number was not given back');
    for (const secret of [authToken, Buffer.from(`${accountSid}:${authToken}`).toString('base64')]) expect(logged).not.toContain(secret);
    await own.close();
  });
});

describe('a login', () => {
  let own: TestServer;
  beforeAll(async () => {
    own = await server();
  });
  afterAll(() => own.close());

  const median = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
  const timed = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };

  it('takes as long whether or not the address is known', async () => {
    const { ownerEmail } = await own.seed.account();
    const attempt = (address: string) => timed(() => own.anybody().post('/auth/login', { email: address, password: 'a wrong password' }));
    for (let i = 0; i < 5; i++) await attempt(ownerEmail);
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let i = 0; i < 40; i++) {
      times.known.push(await attempt(ownerEmail));
      times.unknown.push(await attempt(`nobody${i}@example.com`));
    }
    // Of the quicker half: what others do on the machine only ever adds.
    const quick = (all: number[]) => median(all.sort((a, b) => a - b).slice(0, all.length / 2));
    const [known, unknown] = [quick(times.known), quick(times.unknown)];
    expect(Math.abs(known - unknown)).toBeLessThan(Math.max(5, known * 0.25));
  });

  it('does not keep the others waiting when it comes in a crowd', async () => {
    const crowd = Array.from({ length: 20 }, (_, i) =>
      own.anybody().post('/auth/login', { email: `crowd${i}@example.com`, password: 'x' }),
    );
    const pulses: number[] = [];
    for (let i = 0; i < 15; i++) pulses.push(await timed(() => own.anybody().raw({ path: '/healthz' })));
    expect(new Set((await Promise.all(crowd)).map(({ status }) => status))).toEqual(new Set([401]));
    expect(median(pulses)).toBeLessThan(100);
  });
});
