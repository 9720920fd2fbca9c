import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import {
  type Account,
  type Client,
  dataOf,
  expectGraphQLRefusal,
  expectRefusal,
  minute,
  password,
  type Reply,
  second,
  server,
  type TestServer,
} from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

/** A person with a second factor, and what their app and their drawer hold. */
interface Guarded {
  account: Account;
  email: string;
  secret: string;
  recoveryCodes: string[];
}

const codeAt = (secret: string, steps = 0, { clock } = api) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock.now().getTime() + steps * 30 * second });

/** The code of a step that was not used yet. */
function nextCode({ secret }: Guarded): string {
  api.clock.advance(30 * second);
  return codeAt(secret);
}

async function guarded(): Promise<Guarded> {
  const account = await api.seed.account();
  // What a stranger set up before anybody proved the address is another matter.
  dataOf(await account.owner.post('/auth/verify-email', { token: await tokenMailed(api, account.ownerEmail, 'verify-email') }));
  const { secret, otpauthUrl } = dataOf(await account.owner.post('/auth/mfa/setup', { password }));
  expect(otpauthUrl).toMatch(/^otpauth:\/\/totp\//);
  const { recoveryCodes } = dataOf(await account.owner.post('/auth/mfa/enable', { code: codeAt(secret) }));
  return { account, email: account.ownerEmail, secret, recoveryCodes };
}

async function firstStep({ email }: Guarded): Promise<string> {
  const { mfaToken } = dataOf(await api.anybody().post('/auth/login', { email, password }));
  return mfaToken;
}

const verify = (mfaToken: string, proof: object, client: Client = api.anybody()) => client.post('/auth/mfa/verify', { mfaToken, ...proof });
const statuses = (replies: Reply[]) => replies.map(({ status }) => status).sort();

describe('a login with a second factor', () => {
  it('gives no session before the second step', async () => {
    const person = await guarded();
    const client = api.anybody();
    const reply = await client.post('/auth/login', { email: person.email, password });
    expect(reply.body.data).toMatchObject({ mfaRequired: true, mfaToken: expect.any(String), user: null, account: null });
    expect([client.cookie, reply.headers['set-cookie']]).toEqual([undefined, undefined]);
    const done = await verify(reply.body.data.mfaToken, { code: nextCode(person) }, client);
    expect(done.body.data).toMatchObject({ mfaRequired: false, mfaToken: null, user: { email: person.email }, role: 'owner' });
    expect((await client.get('/auth/me')).status).toBe(200);
  });

  it('is the same through GraphQL', async () => {
    const person = await guarded();
    const client = api.anybody();
    const login = await client.gql('mutation ($i: LoginInput!) { login(input: $i) { mfaRequired mfaToken user { id } } }', {
      i: { email: person.email, password },
    });
    expect([login.data.login.mfaRequired, login.data.login.user, client.cookie]).toEqual([true, null, undefined]);
    const i = { mfaToken: login.data.login.mfaToken, code: nextCode(person) };
    await client.gql('mutation ($i: MfaVerifyInput!) { verifyMfa(input: $i) { role } }', { i });
    expect((await client.gql('{ me { user { email } } }')).data.me.user.email).toBe(person.email);
  });

  it('takes a code of the step before or after, and none further off', async () => {
    const person = await guarded();
    api.clock.advance(5 * minute);
    for (const steps of [-2, 2]) expectRefusal(await verify(await firstStep(person), { code: codeAt(person.secret, steps) }), 401);
    for (const steps of [-1, 0, 1]) {
      expect((await verify(await firstStep(person), { code: codeAt(person.secret, steps) })).status).toBe(200);
    }
  });

  it('takes a code once, and none older than the last', async () => {
    const person = await guarded();
    const old = codeAt(person.secret);
    const code = nextCode(person);
    expect((await verify(await firstStep(person), { code })).status).toBe(200);
    for (const used of [code, old]) expectRefusal(await verify(await firstStep(person), { code: used }), 401);
    expect((await verify(await firstStep(person), { code: nextCode(person) })).status).toBe(200);
  });

  it('lets one of ten in who come at once with the same code', async () => {
    const person = await guarded();
    const code = nextCode(person);
    const mfaToken = await firstStep(person);
    const replies = await Promise.all(Array.from({ length: 10 }, () => verify(mfaToken, { code })));
    expect(statuses(replies)).toEqual([200, ...Array(9).fill(401)]);
  });

  it('lets one of two in who come at once with right proofs of both kinds', async () => {
    const person = await guarded();
    for (const recoveryCode of person.recoveryCodes.slice(0, 3)) {
      const [mfaToken, code] = [await firstStep(person), nextCode(person)];
      expect(statuses(await Promise.all([verify(mfaToken, { code }), verify(mfaToken, { recoveryCode })]))).toEqual([200, 401]);
    }
  });
});

describe('the first step of a login', () => {
  it('stands five tries', async () => {
    const person = await guarded();
    const mfaToken = await firstStep(person);
    for (let i = 0; i < 5; i++) expectRefusal(await verify(mfaToken, { code: '000000' }), 401);
    expectRefusal(await verify(mfaToken, { code: nextCode(person) }), 401);
    expect((await verify(await firstStep(person), { code: nextCode(person) })).status).toBe(200);
  });

  it('stands five minutes', async () => {
    const person = await guarded();
    const mfaToken = await firstStep(person);
    api.clock.advance(5 * minute + second);
    expectRefusal(await verify(mfaToken, { code: nextCode(person) }), 401);
  });

  it('ends an older first step with a newer one', async () => {
    const person = await guarded();
    const older = await firstStep(person);
    const newer = await firstStep(person);
    const code = nextCode(person);
    expectRefusal(await verify(older, { code }), 401);
    expect((await verify(newer, { code })).status).toBe(200);
    expectRefusal(await verify(newer, { code: nextCode(person) }), 401);
  });

  it.each([{}, { code: '' }, { code: 'abcdef' }, { code: '12345' }, { code: '1234567' }, { recoveryCode: 'no such code' }])(
    'refuses %j',
    async (proof) => {
      const reply = await verify(await firstStep(await guarded()), proof);
      expect([400, 401]).toContain(reply.status);
    },
  );
});

describe('guessing codes', () => {
  it('is limited for the person, whatever the address and however many the first steps', async () => {
    const strict = await server({ limits: { login: 5, security: 1000, general: 1000 }, config: { trustProxy: ['loopback'] } });
    let ip = 0;
    const anywhere = () => strict.anybody().with({ 'x-forwarded-for': `10.1.0.${++ip}` });
    const account = await strict.seed.account();
    const { secret } = dataOf(await account.owner.post('/auth/mfa/setup', { password }));
    dataOf(await account.owner.post('/auth/mfa/enable', { code: codeAt(secret, 0, strict) }));
    const login = async () => dataOf(await anywhere().post('/auth/login', { email: account.ownerEmail, password })).mfaToken;
    for (let i = 0; i < 10; i++) expectRefusal(await verify(await login(), { code: '000000' }, anywhere()), 401);
    expectRefusal(await verify(await login(), { code: '000000' }, anywhere()), 429);
    await strict.close();
  });
});

describe('recovery codes', () => {
  it('are ten, and each lets in once, however it is written', async () => {
    const person = await guarded();
    expect(new Set(person.recoveryCodes).size).toBe(10);
    const [first, second] = person.recoveryCodes as [string, string];
    expect((await verify(await firstStep(person), { recoveryCode: first })).status).toBe(200);
    expectRefusal(await verify(await firstStep(person), { recoveryCode: first }), 401);
    expect((await verify(await firstStep(person), { recoveryCode: ` ${second.replace(/-/g, '').toUpperCase()} ` })).status).toBe(200);
  });

  it('let one of ten in who come at once, and two that come at once do not bring each other back', async () => {
    const person = await guarded();
    const [one, two, three] = person.recoveryCodes as [string, string, string];
    const mfaToken = await firstStep(person);
    const replies = await Promise.all([one, two].flatMap((code) => [code, code]).map((recoveryCode) => verify(mfaToken, { recoveryCode })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const entered = [one, one, two, two][replies.findIndex(({ status }) => status === 200)]!;
    expectRefusal(await verify(await firstStep(person), { recoveryCode: entered }), 401);
    expect((await verify(await firstStep(person), { recoveryCode: three })).status).toBe(200);
  });
});

describe('the token of the first step', () => {
  it('is a session nowhere, and no other token either', async () => {
    const person = await guarded();
    const mfaToken = await firstStep(person);
    const client = api.anybody();
    client.cookie = mfaToken;
    expectRefusal(await client.get('/auth/me'), 401);
    expect((await client.gql('{ me { user { id } } }')).errors?.[0].extensions.code).toBe('unauthenticated');
    expectRefusal(await api.anybody().get('/auth/me', { authorization: `Bearer ${mfaToken}` }), 401);
    expectRefusal(await api.anybody().post('/auth/reset-password', { token: mfaToken, password: 'another password' }), 400);
    expectRefusal(await api.anybody().post('/auth/accept-invite', { token: mfaToken, password }), 400);
  });
});

describe('no other way in', () => {
  it('goes round the second factor by a new password', async () => {
    const person = await guarded();
    await api.anybody().post('/auth/forgot-password', { email: person.email });
    const token = await tokenMailed(api, person.email, 'reset-password');
    expectRefusal(await verify(token, { code: nextCode(person) }), 401);
    const client = api.anybody();
    dataOf(await client.post('/auth/reset-password', { token, password: 'another password' }));
    expect(client.cookie).toBeUndefined();
    const login = dataOf(await client.post('/auth/login', { email: person.email, password: 'another password' }));
    expect([login.mfaRequired, client.cookie]).toEqual([true, undefined]);
  });

  it('goes round it by an invitation', async () => {
    const person = await guarded();
    const other = await api.seed.account();
    dataOf(await other.owner.post('/users/invite', { email: person.email }));
    const client = api.anybody();
    const accepted = dataOf(
      await client.post('/auth/accept-invite', { token: await tokenMailed(api, person.email, 'accept-invite'), password }),
    );
    expect([accepted.mfaRequired, accepted.user, client.cookie]).toEqual([true, null, undefined]);
    const entered = dataOf(await verify(accepted.mfaToken, { code: nextCode(person) }, client));
    expect(entered.account.id).toBe(other.id);
  });
});

describe('setting up', () => {
  it('asks for nothing until a first code has proved the app', async () => {
    const account = await api.seed.account();
    const { secret } = dataOf(await account.owner.post('/auth/mfa/setup', { password }));
    expectRefusal(await account.owner.post('/auth/mfa/enable', { code: '000000' }), 400, 'code');
    expect((await account.login()).cookie).toBeDefined();
    dataOf(await account.owner.post('/auth/mfa/enable', { code: codeAt(secret) }));
    expect(dataOf(await api.anybody().post('/auth/login', { email: account.ownerEmail, password })).mfaRequired).toBe(true);
  });

  it('does not replace a factor that is enabled', async () => {
    const { account } = await guarded();
    expectRefusal(await account.owner.post('/auth/mfa/setup', { password }), 400);
  });

  it('is undone with the password alone', async () => {
    const { account } = await guarded();
    expectRefusal(await account.owner.post('/auth/mfa/disable', { password: 'wrong' }), 400, 'password');
    dataOf(await account.owner.post('/auth/mfa/disable', { password }));
    expect((await account.login()).cookie).toBeDefined();
  });

  it('is for sessions, not for keys', async () => {
    const key = await (await api.seed.account()).key();
    for (const path of ['setup', 'enable', 'disable'])
      expectRefusal(await key.post(`/auth/mfa/${path}`, { code: '000000', password }), 403);
  });
});

describe('a second factor that a role must have', () => {
  it('is asked of the roles that the account names', async () => {
    const account = await api.seed.account();
    const member = await account.member();
    dataOf(await account.owner.patch('/auth/mfa/policy', { roles: ['owner', 'admin'] }));
    const asked = async (email: string) => dataOf(await api.anybody().post('/auth/login', { email, password })).mfaSetupRequired;
    expect([await asked(account.ownerEmail), await asked(member.email)]).toEqual([true, false]);
    const { secret } = dataOf(await account.owner.post('/auth/mfa/setup', { password }));
    dataOf(await account.owner.post('/auth/mfa/enable', { code: codeAt(secret) }));
    api.clock.advance(30 * second);
    const { mfaToken } = dataOf(await api.anybody().post('/auth/login', { email: account.ownerEmail, password }));
    expect(dataOf(await verify(mfaToken, { code: codeAt(secret) })).mfaSetupRequired).toBe(false);
  });

  it('is all that a session of such a role can do, through either API, until it is done', async () => {
    const account = await api.seed.account();
    const key = await account.key();
    dataOf(await account.owner.patch('/auth/mfa/policy', { roles: ['owner'] }));
    expectRefusal(await account.owner.get('/contacts'), 403);
    expectRefusal(await account.owner.post('/contacts', { firstName: 'No' }), 403);
    expectRefusal(await account.owner.patch('/auth/mfa/policy', { roles: [] }), 403);
    expectGraphQLRefusal(await account.owner.gql('{ contacts { totalCount } }'), 403);
    const owed = async () => dataOf(await account.owner.get('/auth/me')).mfaSetupRequired;
    expect([await owed(), dataOf(await key.get('/auth/me')).mfaSetupRequired]).toEqual([true, false]);
    expect((await account.login()).cookie).toBeDefined();
    expect((await key.get('/contacts')).status).toBe(200);
    const { secret } = dataOf(await account.owner.post('/auth/mfa/setup', { password }));
    dataOf(await account.owner.post('/auth/mfa/enable', { code: codeAt(secret) }));
    expect([(await account.owner.get('/contacts')).status, await owed()]).toEqual([200, false]);
    expect(dataOf(await account.owner.get('/auth/mfa/policy')).roles).toEqual(['owner']);
  });

  it('is the owner’s to demand', async () => {
    const account = await api.seed.account();
    const admin = await account.member('admin');
    expect(dataOf(await admin.get('/auth/mfa/policy')).roles).toEqual([]);
    expectRefusal(await admin.patch('/auth/mfa/policy', { roles: ['member'] }), 403);
    expectRefusal(await account.owner.patch('/auth/mfa/policy', { roles: ['guest'] }), 400, 'roles.0');
  });
});
