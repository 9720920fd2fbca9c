import { type Account, dataOf } from '../support/index.js';
import type { MakeSample } from './samples.js';

const someContacts = async (account: Account) => [(await account.contact()).id, (await account.contact()).id] as string[];

const someDeals = async (account: Account) => [(await account.deal()).id, (await account.deal()).id] as string[];

// The second row has a cell too many.
const anImport = async (account: Account, n: number) =>
  dataOf(await account.owner.post('/imports', { csv: `firstName,email\nAda,ada${n}@imported.example\nBea,bea@imported.example,more` }))
    .id as string;
const onImport: MakeSample = async (account, n) => ({ params: { id: await anImport(account, n) } });

const cityIs = (value: string) => ({
  or: [
    { field: 'city', value },
    { field: 'customFields.city', op: 'eq', value },
  ],
});

const aList = async (account: Account, n: number) =>
  dataOf(await account.owner.post('/smart-lists', { name: `List ${n}`, filters: cityIs('Lisbon'), sort: 'lastName', order: 'desc' }))
    .id as string;
const onList: MakeSample = async (account, n) => ({ params: { id: await aList(account, n) } });

/** Samples of what is done to many records at once. */
export const manySamples: Record<string, MakeSample> = {
  'POST /bulk/contacts/update': async (account, n) => {
    const [one, other] = await someContacts(account);
    const changed = { id: one, firstName: `Changed ${n}`, email: `changed${n}@example.com`, customFields: { tier: 2 }, optedOutSms: true };
    return { body: { updates: [changed, { id: other, assignedTo: account.ownerId }, { id: 'nobody', firstName: 'No' }] } };
  },
  'POST /bulk/contacts/edit': async (account, n) => ({
    body: { ids: await someContacts(account), changes: { jobTitle: `Title ${n}`, tags: [`Edited ${n}`] } },
  }),
  'POST /bulk/contacts/delete': async (account) => ({ body: { ids: await someContacts(account) } }),
  'POST /bulk/contacts/tag': async (account, n) => ({
    body: { contactIds: await someContacts(account), tagId: (await account.tag(`Bulk ${n}`)).id },
  }),
  'POST /bulk/contacts/untag': async (account, n) => {
    const { id, tags } = await account.contact({ firstName: 'Tagged', tags: [`Off ${n}`] });
    return { body: { contactIds: [id], tagId: tags[0].id } };
  },
  'POST /bulk/contacts/do-not-contact': async (account) => ({
    body: { contactIds: await someContacts(account), doNotContact: true, reason: 'Asked for it' },
  }),
  'POST /bulk/deals/update': async (account, n) => {
    const [one, other] = await someDeals(account);
    return {
      body: {
        updates: [
          { id: one, title: `Changed ${n}`, value: 12.5 },
          { id: other, status: 'won' },
          { id: 'nobody', title: 'No' },
        ],
      },
    };
  },
  'POST /bulk/deals/edit': async (account, n) => ({ body: { ids: await someDeals(account), changes: { source: `Fair ${n}` } } }),

  'GET /smart-lists': async (account, n) => {
    await aList(account, n);
    return { query: `entity=contact&search=list ${n}&sort=name&order=asc` };
  },
  'POST /smart-lists': (_account, n) => ({ body: { name: `Kept ${n}`, entity: 'contact', filters: cityIs('Porto'), shared: false } }),
  'GET /smart-lists/{id}': onList,
  'PATCH /smart-lists/{id}': async (account, n) => ({
    ...(await onList(account, n)),
    body: { name: `Renamed ${n}`, filters: cityIs('Faro'), sort: null, shared: true },
  }),
  'DELETE /smart-lists/{id}': onList,

  'GET /imports': async (account, n) => {
    await anImport(account, n);
    return { query: 'status=pending&per_page=1' };
  },
  'POST /imports': (_account, n) => ({
    body: {
      ...{ name: `people${n}.csv`, csv: `First name;E-mail;Tier\nAda;ada${n}@imported.example;gold\n;;`, mode: 'upsert', matchOn: 'email' },
      mapping: { 'First name': 'firstName', 'E-mail': 'email', Tier: 'customFields.tier' },
    },
  }),
  'GET /imports/{id}': onImport,
  'GET /imports/{id}/errors': onImport,
  'POST /imports/{id}/process': onImport,
};
