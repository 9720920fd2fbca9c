import { type Account, dataOf } from '../support/index.js';
import type { MakeSample } from './samples.js';

const aTask = async (account: Account, n: number) => (await account.task({ title: `Task ${n}`, dueDate: '2030-05-06' })).id as string;

const aNote = async (account: Account, n: number) => {
  const contactId = (await account.contact()).id as string;
  return dataOf(await account.owner.post('/notes', { body: `Note ${n}`, contactId })) as { id: string; contactId: string };
};

const onTask: MakeSample = async (account, n) => ({ params: { id: await aTask(account, n) } });
const onNote: MakeSample = async (account, n) => ({ params: { id: (await aNote(account, n)).id } });

const aField = async (account: Account, n: number) =>
  dataOf(await account.owner.post('/custom-fields', { entityType: 'deal', fieldKey: `field${n}`, label: 'Field', fieldType: 'text' }))
    .id as string;
const onField: MakeSample = async (account, n) => ({ params: { id: await aField(account, n) } });

/** Samples of tasks, notes, activities, the dashboard and custom fields. */
export const workSamples: Record<string, MakeSample> = {
  'GET /tasks': async (account, n) => {
    await aTask(account, n);
    return { query: `search=Task ${n}&tab=upcoming&sort=dueDate&order=asc` };
  },
  'POST /tasks': async (account) => ({
    body: {
      ...{ title: 'Call back', description: 'About the offer', dueDate: '2030-05-06', priority: 'high', status: 'in_progress' },
      ...{ assignedTo: account.ownerId, contactId: (await account.contact()).id, dealId: null },
    },
  }),
  'GET /tasks/{id}': onTask,
  'PATCH /tasks/{id}': async (account, n) => ({
    ...(await onTask(account, n)),
    body: { status: 'done', dueDate: '2030-05-06T10:00:00+02:00' },
  }),
  'DELETE /tasks/{id}': onTask,

  'GET /notes': async (account, n) => ({ query: `contact_id=${(await aNote(account, n)).contactId}` }),
  'POST /notes': async (account, n) => ({ body: { body: `Wrote ${n}`, contactId: (await account.contact()).id, isPinned: true } }),
  'GET /notes/{id}': onNote,
  'PATCH /notes/{id}': async (account, n) => ({ ...(await onNote(account, n)), body: { body: 'Changed', isPinned: true } }),
  'DELETE /notes/{id}': onNote,

  'GET /activities': async (account, n) => {
    dataOf(await account.owner.post('/activities', { type: `call ${n}`, title: `Spoke ${n}`, metadata: { minutes: n } }));
    return { query: `type=call ${n}&search=spoke` };
  },
  'POST /activities': async (account) => ({
    body: { type: 'meeting', title: 'Met', description: 'At the fair', contactId: (await account.contact()).id, metadata: { hall: 3 } },
  }),

  'GET /dashboard': async (account, n) => {
    const pipeline = await account.pipeline({ name: `Seen ${n}`, isDefault: true });
    const contact = await account.contact({ firstName: `Late ${n}` });
    await account.deal({ pipeline, title: `Deal ${n}`, contactId: contact.id, value: 10.5 });
    await account.task({ title: `Late ${n}`, contactId: contact.id, dueDate: '2020-05-06' });
    return {};
  },

  'GET /custom-fields': async (account, n) => {
    await aField(account, n);
    return { query: 'entityType=deal' };
  },
  'POST /custom-fields': (_account, n) => ({
    body: {
      ...{ entityType: 'company', fieldKey: `made-${n}`, label: 'Tier', fieldType: 'select', section: 'Sales' },
      ...{ options: { choices: ['gold', { value: 'silver', label: 'Silver' }] }, isRequired: true, sortOrder: 2.5 },
    },
  }),
  'GET /custom-fields/{id}': onField,
  'PATCH /custom-fields/{id}': async (account, n) => ({ ...(await onField(account, n)), body: { label: 'Renamed', fieldType: 'number' } }),
  'DELETE /custom-fields/{id}': onField,
};
