import { relation } from '../../kernel/tables/relation.js';
import { callFlowTable } from '../callFlows/callFlow.table.js';
import { contactTable } from '../contacts/contact.table.js';
import { userTable } from '../users/user.table.js';
import { callTable } from './call.table.js';

export const callRelations = [
  ...relation(callTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact whom the call was with; null when deleted' },
    many: { name: 'calls', description: 'Calls with the contact, the latest first by default' },
  }),
  ...relation(callTable, 'userId', userTable, {
    one: { name: 'user', description: 'Who of us was on the line, or logged the call' },
    many: { name: 'calls', description: 'Calls of the user, the latest first by default' },
  }),
  ...relation(callTable, 'callFlowId', callFlowTable, {
    one: { name: 'callFlow', description: 'The call flow that answered the call' },
    many: { name: 'calls', description: 'Calls that the flow answered, the latest first by default' },
  }),
];
