import { Input, JsonObject, OneOf, Phone, Ref, Text } from '../../kernel/model/fields.js';
import { OwnId } from '../../kernel/model/newRecord.js';
import { MessageTransport } from './message.model.js';

/** Contract "SMS send request". */
@Input('A text message to one contact')
export class SendSmsInput {
  @OwnId() id?: string;
  @Ref('To whom; a contact with a phone number that has not opted out', { required: true }) contactId: string;
  @Text(1600, 'What it says', { required: true }) body: string;
  @Phone('The number that it comes from, one of the workspace; only with the transport primary') fromNumber?: string | null;
  @Phone("The number that it goes to, where it is not the contact's") toNumber?: string | null;
  @Ref('The line of the provider that carries it, by the id of its number; only with the transport primary') smsProviderId?: string | null;
  @OneOf(MessageTransport, 'The way on which it goes; primary by default') transport?: keyof typeof MessageTransport | null;
  @Ref('The number that it comes from, by its id') fromkPhoneNumberId?: string | null;
  @Text(100, 'Of a chat app: the template that was approved') whatsappContentSid?: string | null;
  @JsonObject(8, 'Of a chat app: the values of its template') whatsappContentVariables?: object | null;
  @Text(200, 'Your key of this message, 8 to 200 characters: the same key never sends another', { min: 8 }) idempotencyKey?: string | null;
  @JsonObject(64, 'Whatever an integration keeps with it') metadata?: object | null;
}
