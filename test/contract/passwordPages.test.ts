import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, password, server, type TestServer } from '../support/index.js';
import { tokenMailed } from '../support/mail.js';

let api: TestServer;
let acme: Account;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(() => api.close());

const open = (page: string, token: string) => api.anybody().raw({ path: `/${page}?token=${token}` });
const send = (page: string, token: string, given: string) =>
  api.anybody().raw({
    method: 'POST',
    path: `/${page}?token=${token}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ password: given }).toString(),
  });
const login = (email: string, given: string) => api.anybody().post('/auth/login', { email, password: given });

describe('the page that a link in a mail leads to', () => {
  it('sets a new password, once, and says what is wrong with one', async () => {
    const { ownerEmail } = await api.seed.account();
    await api.anybody().post('/auth/forgot-password', { email: ownerEmail });
    const token = await tokenMailed(api, ownerEmail, 'reset-password');
    const page = await open('reset-password', token);
    expect([page.status, page.headers['content-type'], page.text.includes(token)]).toEqual([200, 'text/html; charset=utf-8', false]);
    const short = await send('reset-password', token, 'short');
    expect([short.status, short.text]).toEqual([400, expect.stringContaining('at least 8 characters')]);
    // The rule of the field: characters, not the units that they take, and none that cannot be kept.
    for (const given of ['🙂🙂🙂🙂', 'with a \0 in it', '']) expect((await send('reset-password', token, given)).status).toBe(400);
    expect((await send('reset-password', token, 'a new one for <you>')).status).toBe(200);
    expect((await login(ownerEmail, 'a new one for <you>')).status).toBe(200);
    const again = await send('reset-password', token, 'yet another one');
    expect([again.status, again.text]).toEqual([400, expect.stringContaining('This link does not work')]);
  });

  it('makes somebody who was invited a member', async () => {
    const email = 'invited.by.page@example.com';
    dataOf(await acme.owner.post('/users/invite', { email }));
    const token = await tokenMailed(api, email, 'accept-invite');
    expect((await open('accept-invite', token)).status).toBe(200);
    const accepted = await send('accept-invite', token, password);
    // A form of any site can be sent there: it logs nobody in.
    expect([accepted.status, accepted.headers['set-cookie']]).toEqual([200, undefined]);
    expect(dataOf(await login(email, password))).toMatchObject({ role: 'member', account: { id: acme.id } });
    expect((await send('accept-invite', token, password)).status).toBe(400);
  });

  it('asks whoever has a login here for its password', async () => {
    const other = await api.seed.account();
    dataOf(await acme.owner.post('/users/invite', { email: other.ownerEmail }));
    const token = await tokenMailed(api, other.ownerEmail, 'accept-invite');
    const wrong = await send('accept-invite', token, 'not the password');
    expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('is not your current password')]);
    expect((await send('accept-invite', token, password)).status).toBe(200);
    expect(dataOf(await login(other.ownerEmail, password)).accounts).toHaveLength(2);
  });
});
