import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { drop, edit, read } from '../../kernel/module/routes.js';
import { relation } from '../../kernel/tables/relation.js';
import { userTable } from '../users/user.table.js';
import { assignmentEvents, connectionEvents, LineAssignment, VendorConnection } from './vendorLine.model.js';
import { LineOutcomeResolver, VendorLineResolver } from './vendorLine.resolver.js';
import { assignmentById, connectionById, onUserRemoved, seals } from './vendorLine.service.js';
import { assignmentTable, connectionTable } from './vendorLine.table.js';

const access = { scope: 'settings' };
/** The connection as a record is GraphQL's: REST shows what the contract says of it. */
const select =
  '{ provider status apiKey assignments { id lineId phoneNumber label user { id: userId firstName lastName email isActive } createdAt updatedAt } }';

export default defineModule({
  name: 'vendorLine',
  about: 'Lines of the vendor of chat messages',
  tables: [connectionTable, assignmentTable],
  relations: relation(connectionTable, 'connectedBy', userTable, {
    one: { name: 'connector', description: 'The user who connected it' },
  }),
  resolvers: [VendorLineResolver, LineOutcomeResolver],
  events: [
    recordFeed(connectionEvents, { record: () => VendorConnection, find: connectionById, access }),
    recordFeed(assignmentEvents, { record: () => LineAssignment, find: assignmentById, access }),
  ],
  on: { 'user.removed': onUserRemoved },
  seals,
  routes: [
    read('GET /settings/vendor-line', 'vendorLine', { select }),
    edit('PUT /settings/vendor-line', 'connectVendorLine', { select, also: [422, 502] }),
    drop('DELETE /settings/vendor-line', 'disconnectVendorLine', { select }),
    read('GET /settings/vendor-line/lines', 'vendorLines', { also: [409, 422, 502] }),
    edit('PUT /settings/vendor-line/lines/{lineId}', 'assignLine', { foreignIds: ['lineId'], also: [404, 409, 422, 502] }),
  ],
});
