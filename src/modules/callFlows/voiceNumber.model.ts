import { ArgsType, ObjectType } from 'type-graphql';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Entity, Flag, Input, Nested, OneOf, oneOf, Phone, Ref, Text } from '../../kernel/model/fields.js';

export const ClaimType = oneOf(
  'ClaimType',
  { call_flow: 'A published call flow', ring_group: 'A group of people', main_line: 'The main line' },
  'What answers a number',
);

@Entity('What answers a number')
export class Claim {
  @OneOf(ClaimType, 'What it is', { required: true }) type: keyof typeof ClaimType;
  @Ref('Which one', { graphName: 'recordId' }) id: string | null;
  @Text(200, 'How it is called') name: string | null;
}

@Entity('A number of the workspace that takes calls', { scope: 'settings' })
export class VoiceNumber {
  @Ref('The phone number', { required: true, graphName: 'phoneNumberId' }) id: string;
  @Phone('The number, E.164', { required: true }) number: string;
  @Text(100, 'What it is for') label: string | null;
  @Nested(
    () => Claim,
    () => Claim,
    'What answers it; null where nothing does',
  )
  claimedBy: Claim | null;
  @Flag('Whether its calls come to the service', { required: true }) wired: boolean;
}

@Input('Which numbers')
export class VoiceNumberFilter {
  @Phone('The number') number?: string | null;
}

export const VoiceNumberSort = oneOf('VoiceNumberSort', ['createdAt'], 'Sort keys of numbers');

@ArgsType()
export class VoiceNumberList extends ListArgsOf(VoiceNumberFilter, VoiceNumberSort) {}

@ObjectType({ description: 'A page of numbers' })
export class VoiceNumberConnection extends ConnectionOf(VoiceNumber) {}
