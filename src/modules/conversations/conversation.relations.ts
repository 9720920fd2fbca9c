import { relation } from '../../kernel/tables/relation.js';
import { contactTable } from '../contacts/contact.table.js';
import { bytesOfMessage, messageTable } from '../messages/message.table.js';
import { conversationTable } from './conversation.table.js';

/** The most messages that a thread brings along, and the most bytes: what is printed as one text has to fit into memory. */
const longestThread = 1000;
const largestThread = 8 * 1024 * 1024;

export const conversationRelations = [
  ...relation(conversationTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact' },
  }),
  ...relation(contactTable, 'id', conversationTable, {
    one: { name: 'conversation', description: 'All messages from the contact and to them; null where there is none' },
  }),
  ...relation(conversationTable, 'lastMessageId', messageTable, {
    one: { name: 'lastMessage', description: 'The last message that was sent or received' },
  }),
  ...relation(messageTable, 'contactId', conversationTable, {
    one: { name: 'conversation', description: 'The conversation that the message is part of' },
    many: { name: 'messages', description: 'Its messages over all channels, newest first by default', isLoose: true },
  }),
  ...relation(messageTable, 'contactId', conversationTable, {
    many: {
      name: 'thread',
      description:
        'The latest thousand of its messages over all channels, or as many of them as have 8 MB together, in the order in which they were made',
      isLoose: true,
      listed: {
        by: 't.created_at, t.id',
        holds: longestThread,
        latest: 't.created_at desc, t.id desc',
        within: { bytes: largestThread, of: bytesOfMessage },
      },
    },
  }),
];
