import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Count, Entity, Flag, Input, Nested, OneOf, oneOf, Ref, Stamp } from '../../kernel/model/fields.js';
import { RestName } from '../../kernel/model/recordMarks.js';

export const ConversationState = oneOf(
  'ConversationState',
  {
    awaiting_reply: "The last message is the contact's",
    replied: 'The last message is ours',
    idle: 'Nobody wrote for 30 days',
    closed: 'It was closed, and nobody wrote since',
  },
  'Whose turn it is: the last message is theirs, or ours; nobody wrote for 30 days; or we closed it until the next message',
);
export const SlaState = oneOf(
  'SlaState',
  {
    ok: 'The contact has waited for less than 20 hours',
    due_soon: 'The contact has waited for 20 hours and more',
    breached: 'The contact has waited for 24 hours and more',
    none: 'Nobody waits',
  },
  'How long the contact has waited for an answer: less than 20 hours, less than 24, longer; none where nobody waits',
);

@Entity('How long a contact has waited for an answer')
export class Sla {
  @OneOf(SlaState, 'How it stands', { required: true }) state: keyof typeof SlaState;
  @Stamp('When the answer is due, 24 hours after they wrote; null where nobody waits', {}) dueAt: Date | null;
}

/** Contract "Conversation summary". */
@Entity('All messages from a contact and to them', { scope: 'messages' })
export class Conversation {
  // It has no id of its own, and so is no node: the contact's would be that of two types.
  @Ref('The contact, each of whom has one conversation', { required: true }) @RestName('id', 'contactId') contactId: string;
  @OneOf(ConversationState, 'Whose turn it is', { required: true }) conversationState: keyof typeof ConversationState;
  @Nested(
    () => Sla,
    () => Sla,
    'How long the contact has waited for an answer',
    { required: true },
  )
  sla: Sla;
  @Count('Messages of the contact that nobody has read', { required: true }) unreadCount: number;
  @Count('Messages in all', { required: true }) messageCount: number;
  @Ref('The last message that was sent or received') lastMessageId: string | null;
  @Stamp('When it was', {}) lastMessageAt: Date | null;
  @Stamp('When the contact last wrote', {}) lastInboundAt: Date | null;
  @Stamp('When we last wrote', {}) lastOutboundAt: Date | null;
  @Stamp('When it was closed; null again with the next message', {}) closedAt: Date | null;
  @Stamp('When it began') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

/** GET /conversations. */
@Input('Which conversations')
export class ConversationFilter {
  @OneOf(ConversationState, 'Whose turn it is') state?: keyof typeof ConversationState | null;
  @Flag('Only those with unread messages, or only those without') unread?: boolean | null;
  @Ref('Of contacts whom this user looks after') assignedTo?: string | null;
}

export const ConversationSort = oneOf('ConversationSort', ['lastMessageAt'], 'Sort keys of conversations');

@ArgsType()
export class ConversationList extends ListArgsOf(ConversationFilter, ConversationSort) {}

@ObjectType({ description: 'A page of conversations' })
export class ConversationConnection extends ConnectionOf(Conversation) {}

/** What is told of conversations besides their messages: that they were read or closed. */
export const conversationEvents = eventsOf('conversation', 'Conversation', ['updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    conversation: typeof conversationEvents;
  }
}
