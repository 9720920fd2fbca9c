import { dayMs } from '../kernel/base/durations.js';
import { endOfDay } from '../kernel/base/timeZones.js';
import type { Context } from '../kernel/context/context.js';
import { createActivity } from '../modules/activities/activity.service.js';
import { createCustomField } from '../modules/customFields/customField.service.js';
import { createNote } from '../modules/notes/note.service.js';
import { createSmartList } from '../modules/smartLists/smartList.service.js';
import { createTask, updateTask } from '../modules/tasks/task.service.js';

export const segments = ['small business', 'mid-market', 'enterprise'];

/** The fields that the team added to its contacts and deals. */
export async function addCustomFields(ctx: Context): Promise<void> {
  const onContacts = { entityType: 'contact', section: 'Qualification', isRequired: false } as const;
  await createCustomField(ctx, {
    ...onContacts,
    fieldKey: 'segment',
    label: 'Segment',
    fieldType: 'select',
    sortOrder: 1,
    options: { choices: segments },
  });
  await createCustomField(ctx, { ...onContacts, fieldKey: 'employees', label: 'Employees', fieldType: 'number', sortOrder: 2 });
  await createCustomField(ctx, { ...onContacts, fieldKey: 'renewalMonth', label: 'Renewal month', fieldType: 'number', sortOrder: 3 });
  await createCustomField(ctx, {
    ...onContacts,
    fieldKey: 'firstOrder',
    label: 'First order',
    fieldType: 'number',
    sortOrder: 4,
    options: { numberFormat: 'currency', currencyCode: 'USD' },
  });
  await createCustomField(ctx, {
    entityType: 'deal',
    section: 'Competition',
    isRequired: false,
    fieldKey: 'competitor',
    label: 'Competitor',
    fieldType: 'text',
    sortOrder: 1,
  });
}

/** The filters that the team keeps. */
export async function addSmartLists(ctx: Context): Promise<void> {
  const qualified = { field: 'masterStatus', value: 'qualified' };
  const large = { field: 'customFields.segment', value: 'enterprise' };
  await createSmartList(ctx, {
    name: 'Enterprise, qualified',
    filters: { and: [qualified, large] },
    sort: 'updatedAt',
    order: 'desc',
    shared: true,
  });
  const quiet = {
    or: [
      { field: 'doNotContact', value: true },
      { field: 'optedOutEmail', value: true },
    ],
  };
  await createSmartList(ctx, { name: 'Not by e-mail', filters: quiet, sort: 'lastName', order: 'asc', shared: true });
}

/** What is to be done: its title, how urgent it is, and how many days from now it is due. */
const todo = [
  ['Call back about the quote', 'high', -1],
  ['Send the revised proposal', 'urgent', 0],
  ['Book the product demo', 'medium', 0],
  ['Ask for a reference', 'low', 6],
  ['Prepare the renewal', 'medium', 12],
  ['Check that the onboarding went well', 'low', -4],
] as const;

const notes = [
  'Prefers e-mail in the morning. Decides together with the head of finance.',
  'Uses a spreadsheet today; the pain is the monthly report.',
  'Asked for a discount on three years. We offered 10 %.',
];

const log = [
  ['call', 'Introduced the new plan', { minutes: 12, outcome: 'interested' }],
  ['meeting', 'Walked through the pilot', { attendees: 4 }],
] as const;

/** What the team has to do, wrote down and logged about some of its contacts. */
export async function addWork(ctx: Context, contacts: string[], assignees: string[]): Promise<void> {
  const nth = <T>(list: readonly T[], n: number): T => list[n % list.length] as T;
  for (const [i, [title, priority, days]] of todo.entries()) {
    const dueDay = new Date(ctx.now().getTime() + days * dayMs).toISOString().slice(0, 10);
    const dueDate = endOfDay(dueDay, ctx.caller.account.timezone);
    const about = { contactId: nth(contacts, i * 7), assignedTo: nth(assignees, i) };
    const task = await createTask(ctx, { title, priority, dueDate, status: 'todo', ...about });
    if (i === todo.length - 1) await updateTask(ctx, task.id, { status: 'done' });
  }
  for (const [i, body] of notes.entries()) await createNote(ctx, { body, isPinned: i === 0, contactId: nth(contacts, i * 7) });
  for (const [i, [type, title, metadata]] of log.entries()) {
    await createActivity(ctx, { type, title, metadata, contactId: nth(contacts, i * 7) });
  }
}
