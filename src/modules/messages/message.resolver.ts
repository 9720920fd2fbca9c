import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Detached, TakesLong } from '../../kernel/operations/operation.js';
import { sendEmails } from './message.bulk.js';
import { cancelMessage } from './message.cancel.js';
import { sendEmail } from './message.email.js';
import {
  CreateMessageInput,
  Message,
  MessageConnection,
  MessageList,
  SendEmailInput,
  SendEmailsInput,
  SendSummary,
} from './message.model.js';
import * as messages from './message.service.js';
import { sendSms } from './message.sms.js';
import { SendSmsInput } from './message.sms.model.js';
import { messageTable } from './message.table.js';

@Resolver(() => Message)
@Access({ scope: 'messages' })
export class MessageResolver {
  @Query(() => MessageConnection, { description: 'Messages of all channels, newest first unless sorted otherwise' })
  @Reads(messageTable)
  messages(@Ctx() ctx: Context, @Listing() args: MessageList) {
    return messages.listMessages(ctx, args);
  }

  @Query(() => Message, { nullable: true, description: 'One message' })
  @Reads(messageTable)
  message(@Ctx() ctx: Context, @IdArg() id: string) {
    return messages.getMessage(ctx, id);
  }

  @Query(() => Message, { nullable: true, description: 'One text message' })
  smsMessage(@Ctx() ctx: Context, @IdArg() id: string) {
    return messages.getSms(ctx, id);
  }

  @Mutation(() => Message, { description: 'Keeps a message that went by other ways; nothing is sent' })
  createMessage(@Ctx() ctx: Context, @In() input: CreateMessageInput) {
    return messages.createMessage(ctx, input);
  }

  @Mutation(() => Message, { description: 'Sends a text message to a contact; under the same idempotencyKey never another' })
  @Detached()
  sendSms(@Ctx() ctx: Context, @In() input: SendSmsInput) {
    return sendSms(ctx, input);
  }

  @Mutation(() => Message, { description: 'Sends an e-mail to a contact, at once or at a moment' })
  @Detached()
  sendEmail(@Ctx() ctx: Context, @In() input: SendEmailInput) {
    return sendEmail(ctx, input);
  }

  @Mutation(() => SendSummary, { description: 'Sends an e-mail to many contacts, one mail each, with their own values' })
  @TakesLong()
  sendEmails(@Ctx() ctx: Context, @In() input: SendEmailsInput) {
    return sendEmails(ctx, input);
  }

  @Mutation(() => Message, { description: 'Takes back a message that waits to be sent' })
  cancelMessage(@Ctx() ctx: Context, @IdArg() id: string) {
    return cancelMessage(ctx, id);
  }
}
