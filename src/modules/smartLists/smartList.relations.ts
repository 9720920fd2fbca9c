import { relation } from '../../kernel/tables/relation.js';
import { userTable } from '../users/user.table.js';
import { smartListTable } from './smartList.table.js';

export const smartListRelations = relation(smartListTable, 'ownerId', userTable, {
  one: { name: 'owner', description: 'Who made it' },
});
