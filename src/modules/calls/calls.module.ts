import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { edit, list, make, read } from '../../kernel/module/routes.js';
import { Call, callEvents } from './call.model.js';
import { callRelations } from './call.relations.js';
import { CallResolver } from './call.resolver.js';
import { findCall, onContactDeleted } from './call.service.js';
import { callTable } from './call.table.js';

export default defineModule({
  name: 'calls',
  about: 'The log of calls, and call notes',
  tables: [callTable],
  relations: callRelations,
  resolvers: [CallResolver],
  events: [
    recordFeed(callEvents, {
      record: () => Call,
      find: findCall,
      by: {
        contactId: 'Only calls with this contact',
        userId: 'Only calls of this user',
        callFlowId: 'Only calls that this flow answered',
      },
      access: { scope: 'calls' },
    }),
  ],
  on: { 'contact.deleted': onContactDeleted },
  routes: [
    list('GET /calls', 'calls', { as: 'page', minimal: ['id', 'contactId', 'direction', 'status', 'duration', 'createdAt'] }),
    make('POST /calls', 'createCall', { also: [402] }),
    read('GET /calls/{id}', 'call'),
    edit('PATCH /calls/{id}', 'updateCall'),
  ],
});
