import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Count, Edit, Entity, Id, Input, LongText, Moment, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

export const CallDirection = oneOf(
  'CallDirection',
  { inbound: 'The contact called', outbound: 'We called' },
  'Who called: the contact, or we',
);
export const CallStatus = oneOf(
  'CallStatus',
  {
    completed: 'Somebody talked',
    missed: 'Nobody of us answered',
    voicemail: 'A message was left',
    no_answer: 'The other side did not answer',
  },
  'How a call ended',
);

/** Contract "Call log": one line a field. */
@ObjectType()
export class CallFields {
  @Ref('The contact whom the call was with') contactId: string | null;
  @OneOf(CallDirection, 'Who called; outbound by default', { optional: true }) direction: keyof typeof CallDirection;
  @OneOf(CallStatus, 'How it ended; completed by default', { optional: true }) status: keyof typeof CallStatus;
  @Count('How long it took, in seconds', { min: 0 }) duration: number | null;
  @LongText(50, 'What was said, at most 50 KB') notes: string | null;
  @Text(200, 'What came of it') disposition: string | null;
  @Text(100, 'Where the call comes from: manual_log where it was entered by hand, call_flow where a call flow answered it')
  source: string | null;
  @Text(64, 'The number that called; required unless the source is manual_log') fromNumber: string | null;
  @Text(64, 'The number that was called; required unless the source is manual_log') toNumber: string | null;
}

@Entity('A call that is over', { scope: 'calls' })
export class Call extends CallFields {
  @Id() id: string;
  @Ref('Who of us was on the line, or logged the call') userId: string | null;
  @Ref('The call flow that answered it') callFlowId: string | null;
  @Count('The version of the flow that it followed') callFlowVersion: number | null;
  @Text(200, "The vendor's id of the call") providerId: string | null;
  @Text(2000, 'Where the vendor keeps the voicemail') recordingUrl: string | null;
  @Stamp('When it began; of a call that was logged by hand, when that was') startedAt: Date;
  @Stamp('When it ended, where its duration is known', {}) endedAt: Date | null;
  @Stamp('When it was logged') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('A call to be logged; nobody is called')
export class CreateCallInput extends New(CallFields) {}

@Input('Changes to a call: absent keeps, null clears')
export class UpdateCallInput extends Edit(CreateCallInput) {}

/** Contract GET /calls. */
@Input('Which calls')
export class CallFilter {
  @Ref('Contact') contactId?: string | null;
  @Ref('Who of us was on the line') userId?: string | null;
  @Moment('Began at or after') dateFrom?: string | null;
  @Moment('Began at or before') dateTo?: string | null;
  @OneOf(CallDirection, 'Who called') direction?: keyof typeof CallDirection | null;
  @OneOf(CallStatus, 'How they ended') status?: keyof typeof CallStatus | null;
}

export const CallSort = oneOf('CallSort', ['startedAt', 'createdAt'], 'Sort keys of calls');

@ArgsType()
export class CallList extends ListArgsOf(CallFilter, CallSort) {}

@ObjectType({ description: 'A page of calls' })
export class CallConnection extends ConnectionOf(Call) {}

/** What is told of calls. */
export const callEvents = eventsOf('call', 'Call', ['created', 'updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    call: typeof callEvents;
  }
}
