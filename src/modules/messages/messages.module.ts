import { invalidField } from '../../kernel/base/errors.js';
import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { formBytes } from '../../kernel/module/page.js';
import { act, list, make, read } from '../../kernel/module/routes.js';
import { mostBytes as bodyCap } from '../numbers/number.notice.js';
import { deliver, giveUp } from './message.delivery.js';
import { admitMail, takeMail } from './message.email.inbound.js';
import { lineActor, takeReplies } from './message.line.inbound.js';
import { Message, messageEvents } from './message.model.js';
import { onContactDeleted, onContactUpdated } from './message.reactions.js';
import { messageAnswers, messageRelations } from './message.relations.js';
import { MessageResolver } from './message.resolver.js';
import { findMessage } from './message.service.js';
import { takeReport, takeSms } from './message.sms.inbound.js';
import { notedSweep, oldKeys } from './message.sweeps.js';
import { messageTable } from './message.table.js';
import { askToUnsubscribe, followLink, showPixel, unsubscribe } from './message.tracking.js';

/** Contract "Message": names in snake_case are taken as well. */
const names = { contactId: 'filter.contactId' };

/** The largest mail that is taken in. */
const mostBytes = 10 * 1024 * 1024;

export default defineModule({
  name: 'messages',
  about: 'Text messages and e-mails: sending, scheduling, what became of them',
  tables: [messageTable],
  constraints: { messages_received_once: () => invalidField('providerId', 'taken', 'is taken already') },
  relations: messageRelations,
  answers: messageAnswers,
  resolvers: [MessageResolver],
  events: [
    recordFeed(messageEvents, {
      record: () => Message,
      find: findMessage,
      by: {
        contactId: 'Only messages from this contact or to them',
        userId: 'Only messages that this user wrote or sent',
        enrollmentId: 'Only messages that are steps of this enrollment',
      },
      access: { scope: 'messages' },
    }),
  ],
  on: { 'contact.deleted': onContactDeleted, 'contact.updated': onContactUpdated },
  sweeps: { oldMessageKeys: oldKeys, notedMessages: notedSweep },
  due: {
    messages: { table: 'messages', actor: { kind: 'sender', id: null, name: 'Sender' }, work: deliver, giveUp, keepsLease: true },
    replies: { table: 'vendor_connections', actor: lineActor, pause: 60, work: takeReplies },
  },
  callbacks: [
    { method: 'POST', path: '/webhooks/twilio/sms', bodyCap, handler: takeSms },
    { method: 'POST', path: '/webhooks/twilio/status/{account}/{message}', bodyCap, handler: takeReport },
    { method: 'POST', path: '/webhooks/email/inbound', bodyCap: mostBytes, admits: admitMail, handler: takeMail },
    { method: 'GET', path: '/e/open/{token}', handler: showPixel },
    { method: 'GET', path: '/e/click/{token}', page: true, handler: followLink },
    { method: 'GET', path: '/e/unsubscribe/{token}', page: true, handler: askToUnsubscribe },
    { method: 'POST', path: '/e/unsubscribe/{token}', page: true, bodyCap: formBytes, handler: unsubscribe },
  ],
  routes: [
    list('GET /messages', 'messages', { as: 'page', query: names }),
    make('POST /messages', 'createMessage', { also: [402, 422], hot: true }),
    read('GET /messages/sms/{id}', 'smsMessage'),
    make('POST /messages/sms/send', 'sendSms', { also: [402, 409, 422], hot: true }),
    act('POST /messages/{id}/cancel', 'cancelMessage', { also: [409] }),
    act('POST /email/send', 'sendEmail', { also: [402, 422] }),
    act('POST /email/send-bulk', 'sendEmails', { also: [402] }),
    list('GET /emails', 'messages', { as: 'page', fixed: { 'filter.channel': 'email' } }),
  ],
});
