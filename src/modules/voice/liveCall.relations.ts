import { relation } from '../../kernel/tables/relation.js';
import { callFlowTable } from '../callFlows/callFlow.table.js';
import { contactTable } from '../contacts/contact.table.js';
import { userTable } from '../users/user.table.js';
import { liveCallTable } from './liveCall.table.js';

export const liveCallRelations = [
  ...relation(liveCallTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact who calls' },
    many: { name: 'liveCalls', description: 'Calls of the contact that go on now' },
  }),
  ...relation(liveCallTable, 'userId', userTable, {
    one: { name: 'user', description: 'Who of us answered' },
    many: { name: 'liveCalls', description: 'Calls that the user is on' },
  }),
  ...relation(liveCallTable, 'callFlowId', callFlowTable, {
    one: { name: 'callFlow', description: 'The call flow that answers the call', required: true },
    many: { name: 'liveCalls', description: 'Calls that the flow answers now' },
  }),
];
