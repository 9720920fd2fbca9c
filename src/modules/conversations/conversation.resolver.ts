import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { Listing } from '../../kernel/model/connection.js';
import { TakesLong } from '../../kernel/operations/operation.js';
import { Conversation, ConversationConnection, ConversationList } from './conversation.model.js';
import * as conversations from './conversation.service.js';
import { conversationTable } from './conversation.table.js';

const OfContact = () => Arg('contactId', () => ID, { description: "The contact's id" });

@Resolver(() => Conversation)
@Access({ scope: 'messages' })
export class ConversationResolver {
  @Query(() => ConversationConnection, { description: 'Conversations, those with the latest message first' })
  @Reads(conversationTable)
  conversations(@Ctx() ctx: Context, @Listing() args: ConversationList) {
    return conversations.listConversations(ctx, args);
  }

  @Query(() => Conversation, { nullable: true, description: 'The conversation with a contact' })
  @Reads(conversationTable)
  conversation(@Ctx() ctx: Context, @OfContact() contactId: string) {
    return conversations.getConversation(ctx, contactId);
  }

  @Mutation(() => Conversation, { description: 'Notes that all that a contact wrote has been read' })
  @TakesLong()
  markConversationRead(@Ctx() ctx: Context, @OfContact() contactId: string) {
    return conversations.markConversationRead(ctx, contactId);
  }

  @Mutation(() => Conversation, { description: 'Closes a conversation until the next message' })
  closeConversation(@Ctx() ctx: Context, @OfContact() contactId: string) {
    return conversations.closeConversation(ctx, contactId);
  }
}
