import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import { whileHeldUp } from '../support/heldUp.js';
import { type Account, dataOf, onPostgres, password, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const turnedOn = { table: 'users', columns: 'mfa_enabled_at', rows: 'new.mfa_enabled_at is not null' };

// A race, which the one connection of the embedded database does not have.
onPostgres(it)(
  'a login that is under way while the second factor is turned on comes to its second step, and opens no session',
  async () => {
    const member = await acme.member();
    const { secret } = dataOf(await member.post('/auth/mfa/setup', { password }));
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: api.clock.now().getTime() });
    const client = api.anybody();
    const { replies, waitedFor } = await whileHeldUp(
      api,
      turnedOn,
      () => member.post('/auth/mfa/enable', { code }),
      () => client.post('/auth/login', { email: member.email, password }),
    );
    expect(waitedFor).toEqual(['users']);
    const [, entered] = replies.map(dataOf);
    expect(entered).toMatchObject({ mfaRequired: true, mfaToken: expect.any(String), user: null });
    expect(client.cookie).toBeUndefined();
    // The one by which the factor was turned on.
    expect(await api.app.database.prisma.session.count({ where: { userId: member.userId, revokedAt: null } })).toBe(1);
  },
);
