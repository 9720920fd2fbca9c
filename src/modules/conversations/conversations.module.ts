import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { namesOf } from '../../kernel/model/fieldRules.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, list, read } from '../../kernel/module/routes.js';
import { Message } from '../messages/message.model.js';
import { Conversation, conversationEvents } from './conversation.model.js';
import { conversationRelations } from './conversation.relations.js';
import { ConversationResolver } from './conversation.resolver.js';
import { findConversation } from './conversation.service.js';
import { conversationTable } from './conversation.table.js';

/** Contract "Conversation summary". */
const own = 'contactId conversationState sla { state dueAt } unreadCount messageCount lastMessage { body channel direction createdAt }';
const summary = { select: `{ ${own} }`, with: 'contact { id firstName lastName email phone assignedTo }' };

export default defineModule({
  name: 'conversations',
  about: 'The inbox: the thread of each contact over all channels',
  tables: [conversationTable],
  relations: conversationRelations,
  resolvers: [ConversationResolver],
  events: [recordFeed(conversationEvents, { record: () => Conversation, find: findConversation, access: { scope: 'messages' } })],
  routes: [
    list('GET /conversations', 'conversations', { as: 'page', ...summary }),
    read('GET /conversations/{contactId}', 'conversation', {
      select: `{ ${own} messages: thread { ${namesOf(Message).join(' ')} } }`,
      with: summary.with,
    }),
    act('POST /conversations/{contactId}/read', 'markConversationRead', summary),
    act('POST /conversations/{contactId}/close', 'closeConversation', summary),
  ],
});
