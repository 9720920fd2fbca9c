import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, expectNothingWritten, server, type TestServer } from '../support/index.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

describe.each([
  ['without members', {}],
  ['whose members are empty or null', { utm_source: '', utm_medium: null }],
])('an attribution %s', (_what, attribution) => {
  it('is none, is none by a PATCH, and becomes that of a contact that is merged in', async () => {
    const kept = await acme.contact({ firstName: 'A', attribution });
    expect(kept.attribution).toBeNull();
    await expectNothingWritten(api, async () => dataOf(await acme.owner.patch(`/contacts/${kept.id}`, { attribution })));
    const other = await acme.contact({ firstName: 'B', attribution: { utm_source: 'ads' } });
    dataOf(await acme.owner.post('/contacts/merge', { primaryId: kept.id, secondaryId: other.id }));
    expect(dataOf(await acme.owner.get(`/contacts/${kept.id}`)).attribution).toMatchObject({ utm_source: 'ads' });
  });
});
