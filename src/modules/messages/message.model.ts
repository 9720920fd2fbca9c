import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Email,
  Entity,
  Id,
  Input,
  Instant,
  JsonValue,
  LongText,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Refs,
  Stamp,
  Text,
  Texts,
} from '../../kernel/model/fields.js';
import { New, OwnId } from '../../kernel/model/newRecord.js';
import { longestSubject, MessageChannel } from '../templates/template.model.js';

export const MessageDirection = oneOf(
  'MessageDirection',
  { inbound: 'The contact wrote it', outbound: 'We wrote it' },
  'Who wrote a message: the contact, or we',
);
export const MessageStatus = oneOf(
  'MessageStatus',
  {
    draft: 'It is not to be sent yet',
    scheduled: 'It waits for its time',
    queued: 'It waits to be tried, or to be tried again',
    sending: 'It is on its way, or nobody knows whether it went (unconfirmed)',
    sent: 'The carrier took it',
    delivered: 'It arrived',
    received: "The contact's, it came in",
    failed: 'It did not go, or did not arrive',
    cancelled: 'It was taken back before it went',
  },
  'How far a message is; it only moves forward',
);
export const MessageTransport = oneOf(
  'MessageTransport',
  {
    primary: 'The carrier of text messages',
    vendor_line: 'A line of the vendor of lines',
    chat_app: 'A chat app',
    alt_provider: 'Another carrier',
  },
  'The way on which a text message goes',
);

/** Contract "Message": one line a field. */
@ObjectType()
export class MessageFields {
  @Ref('The contact whom it is from or to', { required: true }) contactId: string;
  @OneOf(MessageChannel, 'How it went', { required: true }) channel: keyof typeof MessageChannel;
  @OneOf(MessageDirection, 'Who wrote it', { required: true }) direction: keyof typeof MessageDirection;
  @LongText(500, 'What it says, at most 500 KB: plain text of an SMS, HTML or text of an e-mail', { required: true }) body: string;
  @LongText(500, 'The same as HTML, at most 500 KB') bodyHtml: string | null;
  @Text(longestSubject, 'The subject; an e-mail has one') subject: string | null;
  @Text(30, 'The number that it comes from') fromNumber: string | null;
  @Text(30, 'The number that it goes to') toNumber: string | null;
  @Email('The address that it comes from') fromEmail: string | null;
  @Email('The address that it goes to') toEmail: string | null;
  @Email('The address that answers go to') replyTo: string | null;
  @Texts(50, 254, 'Addresses that get a copy', { optional: true, orOne: true }) cc: string[];
  @Texts(50, 254, 'Addresses that get a copy which the others do not see', { optional: true, orOne: true }) bcc: string[];
  @Text(50, 'Who carried it') provider: string | null;
  @Text(200, 'Its id there') providerId: string | null;
  @JsonValue(64, 'Whatever an integration keeps with it') metadata: object | null;
  @OneOf(MessageStatus, 'How far it is', { optional: true }) status: keyof typeof MessageStatus;
  @Instant('When it is to go') scheduledAt: Date | null;
}

@Entity('A text message or an e-mail, from a contact or to them', { scope: 'messages' })
export class Message extends MessageFields {
  @Id() id: string;
  @OneOf(MessageTransport, 'The way on which a text message goes') transport: keyof typeof MessageTransport | null;
  @Text(200, 'Why it is not sent: a word for programs, such as recipient_opted_out or unconfirmed') error: string | null;
  @Ref('The user who wrote or sent it') userId: string | null;
  @Ref('The template that it was made of') templateId: string | null;
  @Ref('The enrollment in a sequence that it is a step of') enrollmentId: string | null;
  @Count('Which step of it, from 1') stepOrder: number | null;
  @Stamp('When it was sent', {}) sentAt: Date | null;
  @Stamp('When it arrived, as far as the carrier tells', {}) deliveredAt: Date | null;
  @Stamp('When one of us read what the contact wrote', {}) readAt: Date | null;
  @Stamp('When its recipient first opened it', {}) openedAt: Date | null;
  @Stamp('When its recipient first followed a link of it', {}) clickedAt: Date | null;
  @Stamp('When its recipient answered it', {}) repliedAt: Date | null;
  @Stamp('When it came back for good', {}) bouncedAt: Date | null;
  @Stamp('When its recipient unsubscribed by it, or complained of it', {}) unsubscribedAt: Date | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('A message that went by other ways, to be kept; nothing is sent')
export class CreateMessageInput extends New(MessageFields) {}

@Input('An e-mail to one contact')
export class SendEmailInput {
  @OwnId() id?: string;
  @Ref('To whom', { required: true }) contactId: string;
  @Text(longestSubject, 'The subject', { required: true }) subject: string;
  @LongText(500, 'The text, at most 500 KB', { required: true }) body: string;
  @LongText(500, 'The same as HTML, at most 500 KB') bodyHtml?: string | null;
  @Instant('When it goes; at once by default, and where it is no more than a minute ago') scheduledAt?: Date | null;
}

/** The most recipients of one e-mail to many. */
const mostRecipients = 100;

@Input('An e-mail to many, one mail each')
export class SendEmailsInput {
  @Refs(mostRecipients, 'To whom; at most 100', { required: true, min: 1 }) contactIds: string[];
  @Text(longestSubject, 'The subject, with merge fields') subject?: string | null;
  @LongText(500, 'The text, with merge fields; at most 500 KB', { required: true }) body: string;
  @LongText(500, 'The same as HTML, with merge fields; at most 500 KB') bodyHtml?: string | null;
}

export const SendOutcome = oneOf(
  'SendOutcome',
  {
    sent: 'The mail server took it',
    queued: 'It waits to be tried, or to be tried again',
    skipped: 'It was not to be sent; the reason says why',
    failed: 'It could not be sent; the reason says why',
  },
  'What became of the mail to one contact',
);

@Entity('What became of one mail of many')
export class SendResult {
  @Ref('To whom', { required: true }) contactId: string;
  @OneOf(SendOutcome, 'What became of it', { required: true }) status: keyof typeof SendOutcome;
  @Text(
    100,
    'Why it was skipped or failed: not_found, no_email, recipient_opted_out, do_not_contact; duplicate where the contact or its address was named before; empty_subject, empty_body where the merge fields made nothing of them',
  )
  reason: string | null;
  @Ref('The message that is kept of it') messageId: string | null;
}

@Entity('What became of the mails to many')
export class SendSummary {
  @Count('How many were asked for', { required: true }) total: number;
  @Count('How many the mail server took, or waits to take', { required: true }) sent: number;
  @Count('How many were not to be sent', { required: true }) skipped: number;
  @Count('How many could not be sent', { required: true }) failed: number;
  @Nested(
    () => SendResult,
    () => SendResult,
    'Each of them, in the order in which they were asked for',
    { list: mostRecipients, required: true },
  )
  results: SendResult[];
}

/** Contract GET /messages. */
@Input('Which messages')
export class MessageFilter {
  @Ref('Contact') contactId?: string | null;
  @OneOf(MessageChannel, 'Channel') channel?: keyof typeof MessageChannel | null;
  @OneOf(MessageDirection, 'Direction') direction?: keyof typeof MessageDirection | null;
  @OneOf(MessageStatus, 'How far they are') status?: keyof typeof MessageStatus | null;
}

export const MessageSort = oneOf('MessageSort', ['createdAt', 'updatedAt'], 'Sort keys of messages');

@ArgsType()
export class MessageList extends ListArgsOf(MessageFilter, MessageSort) {}

@ObjectType({ description: 'A page of messages' })
export class MessageConnection extends ConnectionOf(Message) {}

/** What is told of messages: sent when a carrier took one, received once. */
export const messageEvents = eventsOf('message', 'Message', ['created', 'updated', 'sent', 'received']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    message: typeof messageEvents;
  }
}
