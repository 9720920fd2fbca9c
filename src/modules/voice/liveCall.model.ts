import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Count, Entity, Id, Input, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';

export const LiveCallStatus = oneOf(
  'LiveCallStatus',
  { ringing: 'Nobody has answered yet', in_progress: 'Somebody is on the line', voicemail: 'The caller has left a message' },
  'How far a call is: nobody has answered yet, somebody is on the line, the caller has left a message',
);

@Entity('A call that goes on now; when it ends it becomes a call of the log', { scope: 'calls' })
export class LiveCall {
  @Id() id: string;
  @Text(200, "The vendor's id of the call", { required: true }) providerId: string;
  @Ref('The call flow that answers it', { required: true }) callFlowId: string;
  @Count('The version of the flow that it follows to its end', { required: true }) callFlowVersion: number;
  @Text(64, 'The number that calls', { required: true }) fromNumber: string;
  @Text(64, 'The number that is called', { required: true }) toNumber: string;
  @Ref('The contact who calls; null until the call ends where nobody has the number') contactId: string | null;
  @Ref('Who of us answered') userId: string | null;
  @OneOf(LiveCallStatus, 'How far it is', { required: true }) status: keyof typeof LiveCallStatus;
  @Text(2000, 'Where the vendor keeps the voicemail') recordingUrl: string | null;
  @Stamp('When it began') startedAt: Date;
  @Stamp('When somebody answered', {}) answeredAt: Date | null;
  @Stamp('When whoever answered was no longer on the line, which is told before the end of the call', {}) lineFreeAt: Date | null;
  @Stamp('When it was first heard of') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('Which calls')
export class LiveCallFilter {
  @Ref('Of this contact') contactId?: string | null;
  @Ref('That this user answered') userId?: string | null;
  @Ref('That this flow answers') callFlowId?: string | null;
  @OneOf(LiveCallStatus, 'How far they are') status?: keyof typeof LiveCallStatus | null;
}

export const LiveCallSort = oneOf('LiveCallSort', ['startedAt'], 'Sort keys of calls that go on');

@ArgsType()
export class LiveCallList extends ListArgsOf(LiveCallFilter, LiveCallSort) {}

@ObjectType({ description: 'A page of calls that go on' })
export class LiveCallConnection extends ConnectionOf(LiveCall) {}

/** What is told of calls that go on; one that ends is deleted, and is a call of the log from then on. */
export const liveCallEvents = eventsOf('live_call', 'LiveCall', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    liveCall: typeof liveCallEvents;
  }
}
