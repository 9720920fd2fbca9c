import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, type Loose, password, server, type TestServer } from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

let nth = 0;
/** Invites somebody with a phone, who accepts; answers who it is. */
async function joined(phone: string): Promise<string> {
  const email = `phone${++nth}@${acme.id}.example`;
  const { id } = dataOf(await acme.owner.post('/users/invite', { email, phone }));
  const token = await tokenMailed(api, email, 'accept-invite');
  dataOf(await api.anybody().post('/auth/accept-invite', { token, password }));
  return id;
}

const settle = async (defaultCountry: string) => dataOf(await acme.owner.patch('/settings/workspace', { defaultCountry }));

describe('the phone of a member', () => {
  it('stays the number that it was when the country of the workspace is another', async () => {
    const { prisma } = api.app.database;
    const [national, none] = [await joined('(415) 555-0177'), await joined('+1 415 555 0177 ext. 5')];
    const { userId: before } = await acme.member();
    const where = { accountId: acme.id, userId: before };
    // As a version before kept that of an invitation.
    await prisma.membership.updateMany({ where, data: { phone: '(415) 555-0178' } });
    const dids = async () => {
      const members: Loose[] = dataOf(await acme.owner.get('/call-flows/roster')).data;
      return [national, before, none].map((id) => members.find(({ userId }) => userId === id)!.did);
    };
    const seen = ['+14155550177', '+14155550178', null];
    expect(await dids()).toEqual(seen);
    for (const country of ['DE', 'GB', 'US']) {
      await settle(country);
      expect(await dids()).toEqual(seen);
    }
    const kept = await prisma.membership.findFirstOrThrow({ where: { accountId: acme.id, userId: none } });
    expect(kept.phone).toBe('+1 415 555 0177 ext. 5');
  });
});
