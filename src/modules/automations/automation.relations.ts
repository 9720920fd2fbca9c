import { recordsOf } from '../../kernel/tables/answerField.js';
import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { userTable } from '../users/user.table.js';
import { automationTable } from './automation.table.js';
import { AutomationEnrollDetail, AutomationEnrollResult } from './run.model.js';
import { automationRunTable, automationStepLogTable } from './run.table.js';

export const automationRelations = [
  ...relation(automationTable, 'createdBy', userTable, { one: { name: 'author', description: 'The user who made the automation' } }),
  ...relation(automationRunTable, 'automationId', automationTable, {
    one: { name: 'automation', description: 'The automation; null when deleted' },
    many: { name: 'runs', description: 'Its runs, newest first by default' },
  }),
  ...relation(automationRunTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact whom it is for; null when deleted' },
    many: { name: 'automationRuns', description: 'Runs of automations for the contact, newest first by default' },
  }),
  ...relation(automationStepLogTable, 'runId', automationRunTable, {
    one: { name: 'run', description: 'The run', required: true },
    many: { name: 'stepLogs', description: 'Its steps, in their order by default', sort: 'nth', order: 'asc' },
  }),
  ...relation(automationStepLogTable, 'automationId', automationTable, {
    one: { name: 'automation', description: 'The automation; null when deleted' },
    many: { name: 'stepLogs', description: 'Steps of its runs, newest first by default' },
  }),
];

/** What starting runs answers leads to what it changed. */
export const automationAnswers = [
  ...recordsOf(AutomationEnrollResult, { automation: [automationTable, 'automationId', 'The automation as it is now'] }),
  ...recordsOf(AutomationEnrollDetail, {
    contact: [contactTable, 'contactId', 'The contact as it is now; null where there is none'],
    run: [automationRunTable, 'runId', 'The run that was started'],
  }),
];
