import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, edit, list, make, read } from '../../kernel/module/routes.js';
import { CallFlow, callFlowEvents } from './callFlow.model.js';
import { callFlowRelations } from './callFlow.relations.js';
import { CallFlowResolver } from './callFlow.resolver.js';
import { findCallFlow } from './callFlow.service.js';
import { callFlowTable, callFlowVersionTable } from './callFlow.table.js';
import { rosterTable } from './roster.table.js';
import { voiceNumberTable } from './voiceNumber.table.js';

const blocked = { 422: { 'blockers?': '[Blocker!]!' } };

export default defineModule({
  name: 'callFlows',
  about: 'What callers of a number hear, and whom it rings',
  tables: [callFlowTable, callFlowVersionTable, rosterTable, voiceNumberTable],
  relations: callFlowRelations,
  resolvers: [CallFlowResolver],
  events: [recordFeed(callFlowEvents, { record: () => CallFlow, find: findCallFlow, access: { scope: 'settings' } })],
  routes: [
    list('GET /call-flows', 'callFlows', { as: 'page' }),
    make('POST /call-flows', 'createCallFlow', { also: [402, 409, 422] }),
    list('GET /call-flows/roster', 'callFlowRoster', { as: 'page' }),
    list('GET /call-flows/numbers', 'callFlowNumbers', { as: 'page', also: [502] }),
    edit('PUT /call-flows/presence', 'setCallPresence'),
    act('POST /call-flows/tombstones/release', 'releaseCallFlowNumber', { also: [404, 409, 502] }),
    read('GET /call-flows/{id}', 'callFlow'),
    edit('PATCH /call-flows/{id}', 'updateCallFlow', { also: [409, 422, 428] }),
    read('GET /call-flows/{id}/validate', 'callFlowBlockers'),
    act('POST /call-flows/{id}/publish', 'publishCallFlow', { spread: 'callFlow', also: [402, 409, 422, 428, 502], tells: blocked }),
    act('POST /call-flows/{id}/unpublish', 'unpublishCallFlow'),
    act('POST /call-flows/{id}/simulate', 'simulateCallFlow', { also: [422], tells: blocked }),
    read('GET /call-flows/{id}/wiring', 'callFlowWiring'),
    act('POST /call-flows/{id}/wiring', 'wireCallFlow', { also: [409, 502] }),
  ],
});
