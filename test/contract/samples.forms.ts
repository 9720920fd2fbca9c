import { type Account, dataOf } from '../support/index.js';
import type { MakeSample } from './samples.js';

const fields = [
  { key: 'name', label: 'Your name', type: 'text', required: true },
  { key: 'email', label: 'E-mail', type: 'email', required: true },
  { key: 'phone', type: 'phone' },
  { key: 'size', label: 'Company size', type: 'select', options: ['small', 'large'] },
  { key: 'seats', type: 'number' },
  { key: 'question', type: 'textarea' },
];

const aForm = async (account: Account, n: number) =>
  dataOf(await account.owner.post('/forms', { name: `Form ${n}`, fields, settings: { tags: [`Lead ${n}`], consent: { text: 'May we?' } } }))
    .id as string;
const onForm: MakeSample = async (account, n) => ({ params: { id: await aForm(account, n) } });

const filledIn = (n: number) => ({
  data: { name: 'Ada Lovelace', email: `form${n}@example.com`, size: 'large', seats: '5', question: 'How much\nis it?' },
  attribution: { utm_source: 'ads', landingUrl: 'https://example.com/' },
  consent: true,
  source: 'website',
  utm: { campaign: 'spring' },
  _hp_field: '',
});

/** Samples of forms. */
export const formSamples: Record<string, MakeSample> = {
  'GET /forms': async (account, n) => {
    await aForm(account, n);
    return { query: `search=form ${n}&is_active=true&include_archived=false&sort=name&order=asc` };
  },
  'POST /forms': (_account, n) => ({
    body: {
      ...{ name: `Made ${n}`, description: 'On the website', slug: `made-${n}`, fields, hyrosTag: 'h-1', isActive: true },
      ...{ redirectUrl: 'https://example.com/thanks', thankYouMessage: 'Thank you', settings: { tags: ['lead'], theme: { color: 'red' } } },
    },
  }),
  'GET /forms/{id}': onForm,
  'PATCH /forms/{id}': async (account, n) => ({
    ...(await onForm(account, n)),
    body: { name: `Renamed ${n}`, fields: [{ key: 'email', type: 'email', required: true }], thankYouMessage: null },
  }),
  'DELETE /forms/{id}': onForm,
  'GET /forms/{id}/submissions': async (account, n) => {
    const { params } = await onForm(account, n);
    dataOf(await account.seed.anybody().post(`/forms/${params!.id}/submit`, filledIn(n)));
    return { params, query: 'per_page=5' };
  },
  'POST /forms/{id}/submit': async (account, n) => ({ ...(await onForm(account, n)), body: filledIn(n) }),
};
