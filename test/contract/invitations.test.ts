import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Account,
  dataOf,
  expectGraphQLRefusal,
  expectNothingWritten,
  expectRefusal,
  type Loose,
  password,
  server,
  type TestServer,
} from '../support/index.js';
import { mailsTo, tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account({ name: 'Acme' });
});
afterAll(() => api.close());

let nth = 0;
const nextEmail = () => `invited${++nth}@example.com`;
const invite = (body: object, account = acme) => account.owner.post('/users/invite', body);
const accept = (body: object, caller = api.anybody()) => caller.post('/auth/accept-invite', body);
const register = (email: string, more: object = {}) =>
  api.anybody().post('/auth/register', { email, password, accountName: 'Own', ...more });
const registerDocument = 'mutation ($input: RegisterInput!) { register(input: $input) { role user { email firstName } account { name } } }';

async function invited(more: object = {}): Promise<{ email: string; id: string; token: string }> {
  const email = nextEmail();
  const { id } = dataOf(await invite({ email, ...more }));
  return { email, id, token: await tokenMailed(api, email, 'accept-invite') };
}

describe('an address that was invited', () => {
  it('may register as if it were new, and accept the invitation later with its password', async () => {
    const { email, token } = await invited({ firstName: 'Theirs', lastName: 'Name' });
    const result = dataOf(await register(email.toUpperCase(), { firstName: 'Own' }));
    expect(result).toMatchObject({ role: 'owner', user: { email: email.toUpperCase(), firstName: 'Own', lastName: null } });
    expect(result.accounts).toHaveLength(1);
    expectRefusal(await register(email), 400, 'email');
    expectRefusal(await accept({ token, password: 'another password' }), 400, 'password');
    const joined = dataOf(await accept({ token, password }));
    expect([joined.account.id, joined.accounts.length]).toEqual([acme.id, 2]);
  });

  it('may register through GraphQL too, also after the invitation was withdrawn', async () => {
    const { email, id, token } = await invited();
    dataOf(await acme.owner.del(`/users/${id}`));
    const input = { email, password, accountName: 'Own', firstName: 'Grace' };
    const { data } = await api.anybody().gql(registerDocument, { input });
    expect(data.register).toEqual({ role: 'owner', user: { email, firstName: 'Grace' }, account: { name: 'Own' } });
    expectGraphQLRefusal(await api.anybody().gql(registerDocument, { input }), 400, 'email');
    expectRefusal(await accept({ token, password }), 400);
  });

  it.each(['stands', 'was withdrawn'])('may set a first password by a reset link while the invitation %s', async (how) => {
    const { email, id, token } = await invited();
    if (how === 'was withdrawn') dataOf(await acme.owner.del(`/users/${id}`));
    dataOf(await api.anybody().post('/auth/forgot-password', { email }));
    const link = await tokenMailed(api, email, 'reset-password');
    dataOf(await api.anybody().post('/auth/reset-password', { token: link, password: 'by the link' }));
    expectRefusal(await api.anybody().post('/auth/login', { email, password: 'by the link' }), 401);
    expectRefusal(await register(email), 400, 'email');
    expect(dataOf(await register(email, { password: 'by the link' })).role).toBe('owner');
    expect((await api.anybody().post('/auth/login', { email, password: 'by the link' })).status).toBe(200);
    if (how === 'stands') expect(dataOf(await accept({ token, password: 'by the link' })).accounts).toHaveLength(2);
  });

  it('is claimed once when it registers ten times at once', async () => {
    const { email } = await invited();
    const replies = await Promise.all(Array.from({ length: 10 }, () => register(email)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
  });
});

describe('a person who has left every account', () => {
  it('comes back with their password, and only with it', async () => {
    const { userId, email } = await acme.member();
    expectRefusal(await register(email), 400, 'email');
    dataOf(await acme.owner.del(`/users/${userId}`));
    await expectNothingWritten(api, async () => expectRefusal(await register(email, { password: 'a wrong one' }), 400, 'email'));
    expect(dataOf(await register(email)).user).toMatchObject({ id: userId, email, firstName: 'Mem' });
  });

  it('comes back once where they register several times at once', async () => {
    const { userId, email } = await acme.member();
    dataOf(await acme.owner.del(`/users/${userId}`));
    const replies = await Promise.all(Array.from({ length: 4 }, () => register(email)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });

  it('is called as they say now, and keeps what they do not say', async () => {
    const { userId, email } = await acme.member();
    dataOf(await acme.owner.del(`/users/${userId}`));
    const names = { firstName: 'Ada', lastName: null };
    expect(dataOf(await register(email, names)).user).toMatchObject({ id: userId, firstName: 'Ada', lastName: 'Ber' });
    const back = api.anybody();
    dataOf(await back.post('/auth/login', { email, password }));
    expect(dataOf(await back.get('/auth/me')).user.name).toBe('Ada Ber');
  });
});

describe('of a person who is known elsewhere', () => {
  const real = { firstName: 'Augusta', lastName: 'Kingsolver' };
  const secrets = /Augusta|Kingsolver|AUGUSTA/;
  let spelling: string;
  let email: string;
  beforeAll(async () => {
    email = nextEmail();
    spelling = `AUGUSTA${email}`;
    dataOf(await register(spelling, real));
    email = spelling.toLowerCase();
  });

  const shown = async (id: string) => {
    const replies = [
      await acme.owner.get(`/users/${id}`),
      await acme.owner.get('/users?search=augusta'),
      await acme.owner.get('/activities'),
      await acme.owner.get('/events?after=0'),
    ];
    const { data } = await acme.owner.gql('query ($id: ID!) { user(id: $id) { name email status lastActiveAt } }', { id });
    return { user: data.user, text: replies.map(({ text }) => text).join() + JSON.stringify(data) };
  };

  it('the account sees what the inviter sent, until the person accepts', async () => {
    const reply = await invite({ email });
    const { id, name, email: answered } = dataOf(reply);
    expect([name, answered, secrets.test(reply.text)]).toEqual([email, email, false]);
    const before = await shown(id);
    expect(before.user).toEqual({ name: email, email, status: 'invited', lastActiveAt: null });
    expect(before.text).not.toMatch(secrets);
    dataOf(await acme.owner.del(`/users/${id}`));
    expect((await acme.owner.get('/users?status=removed')).text).not.toMatch(secrets);
    dataOf(await invite({ email, firstName: 'Gus' }));
    expect((await shown(id)).user.name).toBe('Gus');

    dataOf(await accept({ token: await tokenMailed(api, email, 'accept-invite'), password }));
    expect((await shown(id)).user).toMatchObject({ name: 'Augusta Kingsolver', email: spelling, status: 'active' });
  });

  it('another account sees nothing of what the first inviter sent', async () => {
    const other = await api.seed.account({ name: 'Other' });
    const address = nextEmail();
    dataOf(await invite({ email: address.toUpperCase(), firstName: 'Augusta', lastName: 'Kingsolver' }));
    const { name, email: answered } = dataOf(await invite({ email: address }, other));
    expect([name, answered]).toEqual([address, address]);
    const token = await tokenMailed(api, address, 'accept-invite');
    const { user } = dataOf(await accept({ token, password }));
    expect(user).toMatchObject({ email: address, firstName: null, lastName: null });
    expect((await other.owner.get('/users')).text).not.toMatch(secrets);
  });
});

describe('the id of somebody who is invited', () => {
  it('tells nothing of since when the address is known', async () => {
    const known = nextEmail();
    const { user } = dataOf(await register(known, { firstName: 'Augusta', lastName: 'Kingsolver' }));
    const ids = [dataOf(await invite({ email: known })).id, dataOf(await invite({ email: nextEmail() })).id];
    expect(ids[0]).toBe(user.id);
    // Those of version 7 begin with the millisecond at which they were made.
    expect(ids.map((id) => id[14])).toEqual(['4', '4']);
  });
});

describe('POST /auth/accept-invite', () => {
  it('calls a new person as the inviter wrote, unless they say otherwise', async () => {
    const [one, two] = [await invited({ firstName: 'Ada', lastName: 'Byron' }), await invited({ first_name: 'Ada', last_name: 'Byron' })];
    expect(dataOf(await accept({ token: one.token, password })).user).toMatchObject({ firstName: 'Ada', lastName: 'Byron' });
    const named = dataOf(await accept({ token: two.token, password, lastName: 'Lovelace' }));
    expect(named.user).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace' });
    expect(dataOf(await acme.owner.get(`/users/${two.id}`)).name).toBe('Ada Lovelace');
  });

  it.each(['while it stands', 'after it was withdrawn'])('goes by the names of the invitation before: sent again %s', async (when) => {
    const { email, id } = await invited({ firstName: 'Ada', lastName: 'Byron' });
    if (when === 'after it was withdrawn') dataOf(await acme.owner.del(`/users/${id}`));
    expect(dataOf(await invite({ email })).name).toBe('Ada Byron');
    const { user } = dataOf(await accept({ token: await tokenMailed(api, email, 'accept-invite'), password }));
    expect(user).toMatchObject({ firstName: 'Ada', lastName: 'Byron' });
    expect(dataOf(await acme.owner.get(`/users/${id}`)).name).toBe('Ada Byron');
  });

  it('leaves somebody who says no name the one that the account gave them meanwhile', async () => {
    const { id, token } = await invited();
    dataOf(await acme.owner.patch(`/users/${id}`, { name: 'Ada of Sales' }));
    expect(dataOf(await accept({ token, password })).user).toMatchObject({ firstName: null, lastName: null });
    expect(dataOf(await acme.owner.get(`/users/${id}`)).name).toBe('Ada of Sales');
  });

  it('takes the first of two passwords that a new person chooses at once', async () => {
    const email = nextEmail();
    const other = await api.seed.account();
    dataOf(await invite({ email }));
    const first = await tokenMailed(api, email, 'accept-invite');
    dataOf(await invite({ email }, other));
    const second = await tokenMailed(api, email, 'accept-invite');
    const replies = await Promise.all([
      accept({ token: first, password: 'password one' }),
      accept({ token: second, password: 'password two' }),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});

describe('the mail of an invitation', () => {
  const mailOf = async (accountName: string, firstName?: string): Promise<Loose> => {
    const owner = api.anybody();
    dataOf(await owner.post('/auth/register', { email: nextEmail(), password, accountName, firstName }));
    const email = nextEmail();
    dataOf(await owner.post('/users/invite', { email }));
    const mail = (await mailsTo(api, email)).at(-1);
    return { subject: mail.subject, first: mail.body.split('\n')[0] };
  };

  it.each([
    ['Acme Inc.', 'Ada', 'Acme Inc.', 'Ada'],
    ['Dr. Müller & Söhne – Köln', 'Zoë', 'Dr. Müller & Söhne – Köln', 'Zoë'],
    ['株式会社アクメ', '花子', '株式会社アクメ', '花子'],
    ['Booking.com', 'J.R.', 'Booking com', 'J R.'],
    ['Win at https://evil.example/prize now', 'Mallory mallory@evil.example', 'Win at now', 'Mallory'],
    ['Claim your prize: evil.example/win', 'www.evil.example', 'Claim your prize: evil example/win', 'Somebody'],
    ['evil。example', 'a\u200bb.c', 'evil example', 'a b c'],
    ['https://evil.example', 'javascript:alert(1)', 'a workspace', 'javascript:alert(1)'],
    ['x'.repeat(200), 'y'.repeat(100), 'x'.repeat(60), 'y'.repeat(60)],
  ])('says %j and %j so that nothing in it is a link', async (account, person, where, who) => {
    expect(await mailOf(account, person)).toEqual({ subject: `Invitation to ${where}`, first: `${who} invites you to ${where}.` });
  });

  it('does not tell the address of an inviter without a name', async () => {
    expect((await mailOf('Acme')).first).toBe('Somebody invites you to Acme.');
  });
});

describe('invitations', () => {
  let strict: TestServer;
  beforeAll(async () => {
    strict = await server({ limits: { register: 1000, security: 1000, general: 10_000, invite: 8 } });
  });
  afterAll(() => strict.close());

  it('are five an hour to one address, from whatever account, and withdrawing them gives none back', async () => {
    const [one, two] = [await strict.seed.account(), await strict.seed.account()];
    const ask = async (account: Account, email = 'Victim@example.com') => (await account.owner.post('/users/invite', { email })).status;
    for (let i = 0; i < 3; i++) {
      const reply = await one.owner.post('/users/invite', { email: 'victim@example.com' });
      dataOf(await one.owner.del(`/users/${dataOf(reply).id}`));
    }
    expect([await ask(two), await ask(two, 'victim+tag@example.com')]).toEqual([201, 201]);
    const refused = await two.owner.post('/users/invite', { email: 'victim@example.com' });
    expectRefusal(refused, 429);
    expect(refused.body.retryAfter).toBeGreaterThan(60);
    expect(refused.headers['retry-after']).toBe(String(refused.body.retryAfter));
    const document = 'mutation ($input: InviteUserInput!) { inviteUser(input: $input) { id } }';
    expectGraphQLRefusal(await one.owner.gql(document, { input: { email: 'victim@example.com' } }), 429);
    expect((await mailsTo(strict, 'victim@example.com')).length).toBe(3);
    expect(await ask(one, 'somebody.else@example.com')).toBe(201);
  });

  it('are a number an hour from one account', async () => {
    const account = await strict.seed.account();
    const ask = async (n: number) => (await account.owner.post('/users/invite', { email: `many${n}@example.com` })).status;
    const codes: number[] = [];
    for (let i = 0; i < 9; i++) codes.push(await ask(i));
    expect(codes).toEqual([...Array(8).fill(201), 429]);
    expect(strict.app.config.limits.invite).toBe(8);
    expect(api.app.config.limits.invite).toBe(100);
  });

  it('and reset links: five an hour to one address, and the answer stays the same', async () => {
    const { ownerEmail } = await strict.seed.account();
    for (let i = 0; i < 8; i++) expect((await strict.anybody().post('/auth/forgot-password', { email: ownerEmail })).status).toBe(200);
    const links = (await mailsTo(strict, ownerEmail)).filter(({ subject }) => subject === 'Reset your password');
    expect(links).toHaveLength(5);
  });
});

describe('PATCH /users/{id} of the owner', () => {
  it('is refused to everybody but the owner', async () => {
    const admin = await acme.member('admin');
    const rename = { name: 'Renamed' };
    await expectNothingWritten(api, async () => {
      expectRefusal(await admin.patch(`/users/${acme.ownerId}`, rename), 403);
      const document = 'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { name } }';
      expectGraphQLRefusal(await admin.gql(document, { id: acme.ownerId, input: rename }), 403);
      expectRefusal(await acme.owner.patch(`/users/${acme.ownerId}`, { role: 'member' }), 403);
    });
    expect(dataOf(await acme.owner.patch(`/users/${acme.ownerId}`, rename)).name).toBe('Renamed');
    const member = await acme.member();
    expect(dataOf(await admin.patch(`/users/${member.userId}`, rename)).name).toBe('Renamed');
  });
});
