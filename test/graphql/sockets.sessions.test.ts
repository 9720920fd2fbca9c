import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { type Account, type Client, dataOf, day, minute, password, server, type TestServer } from '../support/index.js';
import { Socket } from '../support/live.js';
import { tokenMailed } from '../support/mail.js';

let crm: TestServer;
let acme: Account;
beforeAll(async () => {
  crm = await server();
  acme = await crm.seed.account();
});
afterAll(() => crm.close());
afterEach(() => crm.clock.reset());

/** A socket that is opened with the cookie of a session. */
const openBy = ({ cookie }: Client) =>
  Socket.open(crm.wire.port, { headers: { cookie: `service_session=${cookie}`, origin: `http://127.0.0.1:${crm.wire.port}` } });

/** A login that waits for its second step, with a proof of it. */
async function halfway() {
  const member = await acme.member();
  const { secret } = dataOf(await member.post('/auth/mfa/setup', { password }));
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: crm.clock.now().getTime() });
  const { recoveryCodes } = dataOf(await member.post('/auth/mfa/enable', { code }));
  const { mfaToken } = dataOf(await crm.anybody().post('/auth/login', { email: member.email, password }));
  return { mfaToken, recoveryCode: recoveryCodes[0] };
}

it('a socket opens no session, which it could not hand over, and uses nothing up that opens one', async () => {
  const email = 'guest@tests.example';
  dataOf(await acme.owner.post('/users/invite', { email }));
  const asked: [string, string, string, object][] = [
    ['login', 'LoginInput', '/auth/login', { email: acme.ownerEmail, password }],
    ['verifyMfa', 'MfaVerifyInput', '/auth/mfa/verify', await halfway()],
    ['acceptInvite', 'AcceptInviteInput', '/auth/accept-invite', { token: await tokenMailed(crm, email, 'accept-invite'), password }],
    ['register', 'RegisterInput', '/auth/register', { email: 'new@tests.example', password, accountName: 'New' }],
    ['switchAccount', 'SwitchAccountInput', '/auth/switch-account', { accountId: acme.id }],
  ];
  const socket = await openBy(acme.owner);
  const count = () => crm.app.database.prisma.session.count({ where: { revokedAt: null } });
  const before = await count();
  for (const [field, type, , input] of asked) {
    const feed = socket.run(`mutation ($input: ${type}!) { ${field}(input: $input) { role } }`, { input });
    const [error] = await feed.refused();
    expect([field, error.extensions.status, error.message]).toEqual([field, 400, expect.stringMatching(/over HTTP/)]);
  }
  expect([socket.closed, await count()]).toEqual([undefined, before]);
  expect((await acme.owner.get('/auth/me')).status).toBe(200);
  for (const [field, , path, input] of asked) {
    const client = field === 'switchAccount' ? acme.owner : crm.anybody();
    expect([field, (await client.post(path, input)).status]).toEqual([field, 200]);
  }
  socket.cut();
});

it('a session that is used by its socket alone goes on and its next answer renews the cookie; one that only listens ends', async () => {
  const member = await acme.member();
  const silent = await acme.login();
  const [asks, listens] = [await openBy(member), await openBy(silent)];
  await listens.run('subscription { events(ready: true) { kind } }').nth(1);
  for (const _four of [1, 2]) {
    crm.clock.advance(4 * day);
    const [me] = await asks.run('{ me { user { id } } }').nth(1);
    expect(me.user.id).toBe(member.userId);
  }
  expect((await listens.end()).code).toBe(4401);
  expect(asks.closed).toBeUndefined();
  const where = { key: { accountId: acme.id, userId: member.userId } };
  const { lastActiveAt } = await crm.app.database.prisma.membership.findUniqueOrThrow({ where });
  expect(crm.clock.now().getTime() - lastActiveAt!.getTime()).toBeLessThan(minute);
  const { status, headers } = await member.get('/auth/me');
  const expires = /Expires=([^;]+)/.exec(headers['set-cookie']?.[0] ?? '')?.[1] ?? '';
  expect([status, Date.parse(expires) - crm.clock.now().getTime() > 7 * day - minute]).toEqual([200, true]);
  asks.cut();
});
