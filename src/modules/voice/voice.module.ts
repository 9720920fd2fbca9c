import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { mostBytes as bodyCap } from '../numbers/number.notice.js';
import { voicePath, voiceStatusPath } from '../numbers/number.routing.js';
import { LiveCall, liveCallEvents } from './liveCall.model.js';
import { liveCallRelations } from './liveCall.relations.js';
import { LiveCallResolver } from './liveCall.resolver.js';
import { findLiveCall, onContactDeleted, staleCalls } from './liveCall.service.js';
import { liveCallTable } from './liveCall.table.js';
import { takeAnswer, takeCall, takeStatus, takeTurnOf } from './voice.webhook.js';

export default defineModule({
  name: 'voice',
  about: 'Calls while they last',
  tables: [liveCallTable],
  relations: liveCallRelations,
  resolvers: [LiveCallResolver],
  events: [
    recordFeed(liveCallEvents, {
      record: () => LiveCall,
      find: findLiveCall,
      by: {
        callFlowId: 'Only calls that this flow answers',
        userId: 'Only calls that this user answers',
        contactId: 'Only calls from this contact',
      },
      access: { scope: 'calls' },
    }),
  ],
  on: { 'contact.deleted': onContactDeleted },
  sweeps: { staleCalls },
  callbacks: [
    { method: 'POST', path: voicePath, bodyCap, handler: takeCall },
    { method: 'POST', path: voiceStatusPath, bodyCap, handler: takeStatus },
    { method: 'POST', path: `${voicePath}/{account}/{call}`, bodyCap, handler: takeTurnOf },
    { method: 'POST', path: `${voicePath}/{account}/{call}/answered`, bodyCap, handler: takeAnswer },
  ],
  routes: [],
});
