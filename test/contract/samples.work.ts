import type { Account } from '../support/index.js';
import type { MakeSample } from './samples.js';

const aTask = async (account: Account, n: number) => (await account.task({ title: `Task ${n}`, dueDate: '2030-05-06' })).id as string;

const onTask: MakeSample = async (account, n) => ({ params: { id: await aTask(account, n) } });

/** Samples of tasks, notes, activities and custom fields. */
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
};
