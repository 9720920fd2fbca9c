import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  type Client,
  dataOf,
  day,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  password,
  server,
  type TestServer,
} from '../support/index.js';
import { mailsTo, tokenMailed } from '../support/mail.js';

let api: TestServer;
beforeAll(async () => {
  api = await server();
});
afterAll(() => api.close());

const isVerified = async (caller: Client) => dataOf(await caller.get('/auth/me')).user.emailVerified;
const linkOf = ({ ownerEmail }: Account, from = api) => tokenMailed(from, ownerEmail, 'verify-email');
const verify = (token: string, from = api) => from.anybody().post('/auth/verify-email', { token });
const open = (method: string, token: string) => api.anybody().raw({ method, path: `/verify-email?token=${token}` });

describe('a registration', () => {
  it('sends a link that verifies the address, once, and is no login', async () => {
    const account = await api.seed.account();
    const mails = await mailsTo(api, account.ownerEmail);
    expect(mails.map(({ subject }) => subject)).toEqual(['Verify your e-mail address']);
    expect(await isVerified(account.owner)).toBe(false);
    const token = await linkOf(account);
    const reply = await verify(token);
    expect([reply.status, reply.headers['set-cookie']]).toEqual([200, undefined]);
    expect(await isVerified(account.owner)).toBe(true);
    expectRefusal(await verify(token), 400, 'token');
  });

  it('is verified through GraphQL too, and told there', async () => {
    const account = await api.seed.account();
    const document = 'mutation ($input: VerifyEmailInput!) { verifyEmail(input: $input) { success } }';
    expectGraphQLRefusal(await api.anybody().gql(document, { input: { token: 'no such token' } }), 400, 'token');
    const { data } = await api.anybody().gql(document, { input: { token: await linkOf(account) } });
    expect(data).toEqual({ verifyEmail: { success: true } });
    expect((await account.owner.gql('{ me { user { emailVerified } } }')).data.me.user.emailVerified).toBe(true);
  });

  it('holds nothing back unless the server is told to', async () => {
    const account = await api.seed.account();
    expect((await account.owner.post('/users/invite', { email: `first.${account.ownerEmail}` })).status).toBe(201);
  });
});

describe('the page that the link leads to', () => {
  it('asks, and its button verifies: whoever only looks at links changes nothing', async () => {
    const account = await api.seed.account();
    const token = await linkOf(account);
    const page = await open('GET', token);
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<form method="post"><button>');
    expect([page.text.includes(token), page.headers['referrer-policy']]).toEqual([false, 'no-referrer']);
    expect(await isVerified(account.owner)).toBe(false);
    expect((await open('POST', token)).status).toBe(200);
    expect(await isVerified(account.owner)).toBe(true);
    const again = await open('POST', token);
    expect([again.status, again.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
  });

  it('takes the last of several tokens', async () => {
    const account = await api.seed.account();
    expect((await open('POST', `one&token=two`)).status).toBe(400);
    expect((await open('POST', `one&token=${await linkOf(account)}`)).status).toBe(200);
    expect(await isVerified(account.owner)).toBe(true);
  });

  it.each(['', 'x'.repeat(5000), '%00'])('refuses the token %j', async (token) => {
    expect((await open('POST', token)).status).toBe(400);
  });
});

describe('another link', () => {
  it('is sent to a caller whose address is not verified, and ends the first', async () => {
    const account = await api.seed.account();
    const first = await linkOf(account);
    dataOf(await account.owner.post('/auth/resend-verification'));
    const second = await linkOf(account);
    expectRefusal(await verify(first), 400, 'token');
    dataOf(await verify(second));
    dataOf(await account.owner.post('/auth/resend-verification'));
    expect(await mailsTo(api, account.ownerEmail)).toHaveLength(2);
    expectRefusal(await api.anybody().post('/auth/resend-verification'), 401);
    expectRefusal(await (await account.key()).post('/auth/resend-verification'), 403);
  });

  it('is sent a few times an hour', async () => {
    const strict = await server({ limits: { security: 1000, general: 1000 } });
    const account = await strict.seed.account();
    const codes: number[] = [];
    for (let i = 0; i < 6; i++) codes.push((await account.owner.post('/auth/resend-verification')).status);
    expect(codes).toEqual([200, 200, 200, 200, 200, 429]);
    await strict.close();
  });
});

describe('an address', () => {
  it('is verified by an invitation that is accepted', async () => {
    const acme = await api.seed.account();
    const email = `accepted.${acme.ownerEmail}`;
    dataOf(await acme.owner.post('/users/invite', { email }));
    const client = api.anybody();
    dataOf(await client.post('/auth/accept-invite', { token: await tokenMailed(api, email, 'accept-invite'), password }));
    expect(await isVerified(client)).toBe(true);
  });

  it('is verified by a reset link that is followed', async () => {
    const account = await api.seed.account();
    await api.anybody().post('/auth/forgot-password', { email: account.ownerEmail });
    const token = await tokenMailed(api, account.ownerEmail, 'reset-password');
    dataOf(await api.anybody().post('/auth/reset-password', { token, password }));
    expect(await isVerified(await account.login())).toBe(true);
  });

  it('is not verified by a link that is seven days old', async () => {
    const account = await api.seed.account();
    const token = await linkOf(account);
    api.clock.advance(7 * day + 1000);
    expectRefusal(await verify(token), 400, 'token');
    api.clock.reset();
  });
});

describe('REQUIRE_VERIFIED_EMAIL', () => {
  let strict: TestServer;
  beforeAll(async () => {
    strict = await server({ config: { requireVerifiedEmail: true } });
  });
  afterAll(() => strict.close());

  it('holds invitations until the inviter’s address is verified, through either API and with a key', async () => {
    const account = await strict.seed.account();
    const key = await account.key();
    const input = { email: `held.${account.ownerEmail}` };
    const document = 'mutation ($input: InviteUserInput!) { inviteUser(input: $input) { status } }';
    await expectNothingWritten(strict, async () => {
      for (const caller of [account.owner, key]) {
        expectRefusal(await caller.post('/users/invite', input), 403);
        expectGraphQLRefusal(await caller.gql(document, { input }), 403);
      }
    });
    expect(await mailsTo(strict, input.email)).toEqual([]);
    expect((await account.owner.post('/contacts', { firstName: 'Ada' })).status).toBe(201);
    dataOf(await verify(await linkOf(account, strict), strict));
    expect((await account.owner.gql(document, { input })).data).toEqual({ inviteUser: { status: 'invited' } });
    expect((await key.post('/users/invite', input)).status).toBe(201);
  });
});
