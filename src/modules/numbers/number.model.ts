import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Entity, Flag, Id, Input, oneOf, Phone, Stamp, Text } from '../../kernel/model/fields.js';

@Entity('A phone number of the workspace', { scope: 'settings' })
export class PhoneNumber {
  @Id() id: string;
  @Phone('The number, E.164', { required: true }) number: string;
  @Text(100, 'What it is for') label: string | null;
  @Text(50, 'Whose line it is', { required: true }) provider: string;
  @Flag('Whether it takes text messages', { required: true }) hasSms: boolean;
  @Flag('Whether it takes calls', { required: true }) hasVoice: boolean;
  @Flag('Whether the vendor told the service of texts to it when it was claimed; null where it takes none, or where that is not known')
  textsCome: boolean | null;
  @Stamp('When it was claimed') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Entity('A number that the vendor has for us and that no workspace has claimed')
export class AvailableNumber {
  @Phone('The number, E.164', { required: true }) number: string;
  @Text(100, 'What the vendor calls it', { required: true }) label: string;
}

@Input('A number to be claimed')
export class ClaimNumberInput {
  @Phone('One of the vendor, E.164', { required: true }) number: string;
  @Text(100, 'What it is for') label?: string | null;
}

@Input('Which numbers')
export class PhoneNumberFilter {
  @Flag('Only those that take text messages, or only those that do not') hasSms?: boolean | null;
}

export const PhoneNumberSort = oneOf('PhoneNumberSort', ['createdAt'], 'Sort keys of phone numbers');

@ArgsType()
export class PhoneNumberList extends ListArgsOf(PhoneNumberFilter, PhoneNumberSort) {}

@ObjectType({ description: 'A page of phone numbers' })
export class PhoneNumberConnection extends ConnectionOf(PhoneNumber) {}

/** What is told of phone numbers. */
export const phoneNumberEvents = eventsOf('phone_number', 'PhoneNumber', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    phoneNumber: typeof phoneNumberEvents;
  }
}
