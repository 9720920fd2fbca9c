import { Secret, TOTP } from 'otpauth';
import { type Account, type Client, dataOf, password } from '../support/index.js';
import { eventually } from '../support/live.js';
import { tokenMailed } from '../support/mail.js';
import { automationSamples } from './samples.automations.js';
import { calendarSamples } from './samples.calendars.js';
import { callSamples } from './samples.calls.js';
import { formSamples } from './samples.forms.js';
import { manySamples } from './samples.many.js';
import { moneySamples } from './samples.money.js';
import { reactSamples } from './samples.react.js';
import { salesSamples } from './samples.sales.js';
import { talkSamples } from './samples.talk.js';
import { webhookSamples } from './samples.webhooks.js';
import { workSamples } from './samples.work.js';

/** What a row is called with so that it succeeds. */
export interface Sample {
  /** Path parameters. */
  params?: Record<string, string>;
  /** The query string without its question mark. */
  query?: string;
  body?: Record<string, unknown>;
  /** Who calls, where that is not the account's owner or a key with all rights. */
  as?: Client;
}

/** Makes fresh data in an account; `n` counts the samples of that account, so that two accounts get the same names. */
export type MakeSample = (account: Account, n: number) => Sample | Promise<Sample>;

const nothing: MakeSample = () => ({});
const email = (account: Account, n: number) => `p${n}.${account.id}@example.com`;

const aContact = async (account: Account, n: number) => (await account.contact({ firstName: 'Ada', company: `Company ${n}` })).id as string;
const aTag = async (account: Account, n: number) => (await account.tag(`Tag ${n}`)).id as string;
const aKey = async (account: Account, n: number) => (await account.key({ name: `Key ${n}` })).record.id as string;

const onContact: MakeSample = async (account, n) => ({ params: { id: await aContact(account, n) } });
const onTag: MakeSample = async (account, n) => ({ params: { id: await aTag(account, n) } });
const onKey: MakeSample = async (account, n) => ({ params: { id: await aKey(account, n) } });

const onMember: MakeSample = async (account) => ({ params: { id: (await account.member()).userId } });

/** A member who has set up a second factor but not proved it, and a code that does. */
async function halfway(account: Account) {
  const member = await account.member();
  const { secret } = dataOf(await member.post('/auth/mfa/setup', { password }));
  const totp = new TOTP({ algorithm: 'SHA1', digits: 6, period: 30, secret: Secret.fromBase32(secret) });
  return { member, code: totp.generate({ timestamp: account.seed.app.clock.now().getTime() }) };
}

/** One sample a row, by address: a row without one fails the tests. */
export const samples: Record<string, MakeSample> = {
  'POST /auth/register': (account, n) => ({ body: { email: email(account, n), password, accountName: 'Another', firstName: 'Ann' } }),
  'POST /auth/login': (account) => ({ body: { email: account.ownerEmail, password, accountId: account.id } }),
  'POST /auth/logout': async (account) => ({ as: await account.login() }),
  'GET /auth/me': nothing,
  'POST /auth/change-password': async (account) => ({
    as: await account.member(),
    body: { currentPassword: password, newPassword: 'another long password' },
  }),
  'POST /auth/forgot-password': (account) => ({ body: { email: account.ownerEmail } }),
  'POST /auth/reset-password': async (account) => {
    const { email: to } = await account.member();
    dataOf(await account.seed.anybody().post('/auth/forgot-password', { email: to }));
    return { body: { token: await tokenMailed(account.seed.app.config, to, 'reset-password'), password: 'another long password' } };
  },
  'POST /auth/verify-email': async (account, n) => {
    const to = `verified.${email(account, n)}`;
    dataOf(await account.seed.anybody().post('/auth/register', { email: to, password, accountName: 'Verified' }));
    return { body: { token: await tokenMailed(account.seed.app.config, to, 'verify-email') } };
  },
  'POST /auth/resend-verification': async (account) => ({ as: await account.member() }),
  'POST /auth/switch-account': async (account) => ({ as: await account.member(), body: { accountId: account.id } }),
  'POST /auth/accept-invite': async (account, n) => {
    dataOf(await account.owner.post('/users/invite', { email: email(account, n) }));
    return { body: { token: await tokenMailed(account.seed.app.config, email(account, n), 'accept-invite'), password, firstName: 'Ivy' } };
  },
  'POST /auth/mfa/setup': async (account) => ({ as: await account.member(), body: { password } }),
  'POST /auth/mfa/enable': async (account) => {
    const { member, code } = await halfway(account);
    return { as: member, body: { code } };
  },
  'POST /auth/mfa/disable': async (account) => ({ as: (await halfway(account)).member, body: { password } }),
  'GET /auth/mfa/policy': nothing,
  'PATCH /auth/mfa/policy': () => ({ body: { roles: ['admin'] } }),
  'POST /auth/mfa/verify': async (account) => {
    const { member, code } = await halfway(account);
    const { recoveryCodes } = dataOf(await member.post('/auth/mfa/enable', { code }));
    const login = dataOf(await account.seed.anybody().post('/auth/login', { email: member.email, password }));
    return { body: { mfaToken: login.mfaToken, recoveryCode: recoveryCodes[0] } };
  },

  'GET /users': nothing,
  'POST /users/invite': (account, n) => ({ body: { email: email(account, n), first_name: 'Ivy', role: 'member' } }),
  'GET /users/{id}': onMember,
  'PATCH /users/{id}': async (account, n) => ({ ...(await onMember(account, n)), body: { role: 'admin', name: 'Renamed' } }),
  'DELETE /users/{id}': onMember,

  'GET /api-keys': async (account, n) => ({ query: `search=Key ${n}&per_page=1`, params: await aKey(account, n).then(() => ({})) }),
  'POST /api-keys': () => ({ body: { name: 'Reporting', permission: 'read', scopes: ['contacts'], rateLimit: 60 } }),
  'GET /api-keys/check': async (account) => ({ as: await account.key({ name: 'Checked', permission: 'read', scopes: ['deals'] }) }),
  'GET /api-keys/{id}': onKey,
  'PATCH /api-keys/{id}': async (account, n) => ({ ...(await onKey(account, n)), body: { name: 'Renamed', ipAllowlist: ['10.0.0.0/8'] } }),
  'DELETE /api-keys/{id}': onKey,

  'GET /tags': async (account, n) => ({ query: `search=Tag ${n}`, params: await aTag(account, n).then(() => ({})) }),
  'POST /tags': (_account, n) => ({ body: { name: `Made ${n}`, color: '#AABBCC' } }),
  'GET /tags/{id}': onTag,
  'PATCH /tags/{id}': async (account, n) => ({ ...(await onTag(account, n)), body: { name: `Renamed ${n}` } }),
  'DELETE /tags/{id}': onTag,
  'POST /tags/merge': async (account, n) => ({
    body: { sourceId: await aTag(account, n), targetId: (await account.tag(`Target ${n}`)).id },
  }),

  'GET /contacts': async (account, n) => {
    await aContact(account, n);
    return { query: 'page=1&per_page=2&sort=firstName&order=asc' };
  },
  'POST /contacts': (_account, n) => ({
    body: {
      ...{ firstName: 'Ada', lastName: 'Lovelace', email: `ada${n}@example.com`, phone: '+14155550123', tags: ['vip'] },
      ...{ customFields: { plan: 'gold' }, attribution: { utm_source: 'ads', clickIds: { g: '1' } } },
    },
  }),
  'GET /contacts/duplicates': async (account, n) => {
    for (const firstName of ['Twin', 'Twain']) await account.contact({ firstName, email: `twin${n}@example.com` });
    return {};
  },
  'GET /contacts/smart-views': nothing,
  'GET /contacts/export': async (account, n) => {
    await aContact(account, n);
    return { query: 'search=Ada' };
  },
  'GET /contacts/import/template': nothing,
  'POST /contacts/import': () => ({ body: {} }),
  'POST /contacts/merge': async (account, n) => ({
    body: { primaryId: await aContact(account, n), secondaryId: (await account.contact({ lastName: 'King' })).id },
  }),
  'POST /contact': (_account, n) => ({ body: { firstName: 'Grace', email: `grace${n}@example.com` } }),
  'GET /contacts/{id}': onContact,
  'PATCH /contacts/{id}': async (account, n) => ({
    ...(await onContact(account, n)),
    body: { lastName: 'King', tags: ['vip'], customFields: { a: 1 } },
  }),
  'DELETE /contacts/{id}': onContact,
  'GET /contacts/{id}/score': onContact,
  'POST /contacts/{id}/restore': async (account, n) => {
    const id = await aContact(account, n);
    dataOf(await account.owner.del(`/contacts/${id}`));
    return { params: { id } };
  },
  'POST /contacts/{id}/tags': async (account, n) => ({ ...(await onContact(account, n)), body: { tagIds: [await aTag(account, n)] } }),
  'DELETE /contacts/{id}/tags/{tagId}': async (account, n) => {
    const { id, tags } = await account.contact({ firstName: 'Tagged', tags: [`On ${n}`] });
    return { params: { id, tagId: tags[0].id } };
  },

  ...moneySamples,
  ...salesSamples,
  ...webhookSamples,
  ...workSamples,
  ...talkSamples,
  ...manySamples,
  ...formSamples,
  ...callSamples,
  ...reactSamples,
  ...calendarSamples,
  ...automationSamples,

  // The feed has an event once the relay has given it its place.
  'GET /events': async (account, n) => {
    const id = await aContact(account, n);
    let after = '0';
    await eventually(async () => {
      const { data } = dataOf(await account.owner.get(`/events?per_page=200&after=${after}`));
      after = data.at(-1)?.id ?? after;
      return data.some((event: { entityId: string }) => event.entityId === id);
    });
    return {};
  },

  'GET /schema/public': nothing,
  'GET /schema/api-catalog': nothing,
  'GET /openapi.json': nothing,
  'GET /postman.json': nothing,
};

const counts = new WeakMap<Account, number>();

/** Makes the sample of a row in an account. Fails when the row has brought none. */
export async function sampleOf(address: string, account: Account): Promise<Sample> {
  const make = samples[address];
  if (!make) throw new Error(`${address} has no sample in test/contract/samples.ts`);
  const n = (counts.get(account) ?? 0) + 1;
  counts.set(account, n);
  return make(account, n);
}

/** The address with its path parameters and query filled in. */
export function pathOf(path: string, { params = {}, query }: Pick<Sample, 'params' | 'query'>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ''));
  return query ? `${filled}?${encodeURI(query)}` : filled;
}
