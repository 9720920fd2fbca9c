import { relation } from '../../kernel/tables/relation.js';
import { userTable } from '../users/user.table.js';
import { callFlowTable, callFlowVersionTable } from './callFlow.table.js';

export const callFlowRelations = [
  ...relation(callFlowVersionTable, 'callFlowId', callFlowTable, {
    one: { name: 'callFlow', description: 'The call flow', required: true },
    many: { name: 'versions', description: 'What was published of it, the latest first by default' },
  }),
  ...relation(callFlowVersionTable, 'publishedBy', userTable, { one: { name: 'publisher', description: 'The user who published it' } }),
];
