import { ArgsType, Field, ID, Int, ObjectType } from 'type-graphql';
import { ConnectionOf } from '../../kernel/model/connection.js';
import { Entity, JsonObject, Position, Ref, Stamp, Text } from '../../kernel/model/fields.js';

/** What every event carries; the typed ones carry their record besides. */
@ObjectType()
export class EventFields {
  @Position('The position in the feed of the workspace, a decimal number; pass the last one you saw as after') id: string;
  @Ref('The id of the event, which webhooks carry as theirs', { required: true }) eventId: string;
  @Text(100, 'What happened', { required: true }) name: string;
  @Stamp('When it happened') createdAt: Date;
  @Text(100, 'The type of the record that it happened to', { required: true }) entityType: string;
  @Ref('The id of that record', { required: true }) entityId: string;
  @JsonObject(1024, 'The fields that changed, each with its old and new value: {field: {from, to}}') changes: object | null;
}

@Entity('Something that happened in the workspace')
export class Event extends EventFields {
  @JsonObject(1024, 'The record as it was then', { required: true }) data: object;
}

@ArgsType()
export class EventList {
  @Field(() => [String], { nullable: true, description: 'Only events of these names' }) names?: string[];
  @Field(() => ID, { nullable: true, description: 'The position to go on after; all of the last 30 days unless told' }) after?: string;
  @Field(() => Int, { nullable: true, description: 'How many, at most 200; 50 unless told' }) first?: number;
  @Field(() => Int, { nullable: true, description: 'The same; beats first' }) perPage?: number;
  selection: ReadonlySet<string>;
}

@ObjectType({ description: 'A page of events' })
export class EventConnection extends ConnectionOf(Event) {}

@Entity('Something that happened to a contact')
export class ContactEvent extends EventFields {}
