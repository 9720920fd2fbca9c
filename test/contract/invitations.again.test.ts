import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sweep } from '../../src/workers/sweeps.js';
import { type Account, dataOf, day, password, server, type TestServer } from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

/** Nine days later a link has ended, and more than a day ago; so has every session. */
async function sweepNineDaysOn(): Promise<void> {
  api.clock.advance(9 * day);
  await sweep(api.app);
}

const invitationsOf = (userId: string) => api.app.database.prisma.token.count({ where: { userId, kind: 'invite' } });

describe('an invitation that ended long ago', () => {
  it.each(['by itself', 'since it was withdrawn'])('gives its names to the next one, and is forgotten then: %s', async (how) => {
    const email = `${how.replaceAll(' ', '.')}@example.com`;
    const before = await acme.login();
    const { id } = dataOf(await before.post('/users/invite', { email, firstName: 'Ada', lastName: 'Lovelace' }));
    dataOf(await before.post('/users/invite', { email }));
    if (how !== 'by itself') dataOf(await before.del(`/users/${id}`));
    expect(await invitationsOf(id)).toBe(2);
    await sweepNineDaysOn();
    // Only the last one says something that is needed.
    expect(await invitationsOf(id)).toBe(1);

    expect(dataOf(await (await acme.login()).post('/users/invite', { email })).name).toBe('Ada Lovelace');
    const token = await tokenMailed(api, email, 'accept-invite');
    const { user } = dataOf(await api.anybody().post('/auth/accept-invite', { token, password }));
    expect(user).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace' });
    await sweepNineDaysOn();
    expect(await invitationsOf(id)).toBe(0);
  });
});
