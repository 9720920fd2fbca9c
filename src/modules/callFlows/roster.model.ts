import { ArgsType, ObjectType } from 'type-graphql';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Entity, Input, OneOf, oneOf, Phone, Ref, Text } from '../../kernel/model/fields.js';
import { RestName } from '../../kernel/model/recordMarks.js';

export const Presence = oneOf(
  'Presence',
  { on: 'Takes calls', call: 'Is in a call, and takes no other', off: 'Takes no calls' },
  'Whether somebody takes calls: yes, not now since they are in one, no',
);

@Entity('An active member as somebody whom call flows ring', { scope: 'settings' })
export class RosterMember {
  @Ref('The user', { required: true }) @RestName('id', 'userId') userId: string;
  @Text(200, 'How they are called', { required: true }) name: string;
  @Text(30, 'Their phone; who has none cannot be placed in a flow') did: string | null;
  @OneOf(Presence, 'Whether they take calls; those that are off or in a call are not rung', { required: true })
  presence: keyof typeof Presence;
}

@Input('Which members')
export class RosterFilter {
  @OneOf(Presence, 'Whether they take calls') presence?: keyof typeof Presence | null;
}

export const RosterSort = oneOf('RosterSort', ['createdAt'], 'Sort keys of the roster');

@ArgsType()
export class RosterList extends ListArgsOf(RosterFilter, RosterSort) {}

@ObjectType({ description: 'A page of the roster' })
export class RosterMemberConnection extends ConnectionOf(RosterMember) {}

@Input('Whether the caller takes calls, and on which phone')
export class SetPresenceInput {
  @OneOf(Presence, 'on, call or off; as it is by default') presence?: keyof typeof Presence | null;
  @Phone('The phone that rings, E.164; null for none') phone?: string | null;
}
