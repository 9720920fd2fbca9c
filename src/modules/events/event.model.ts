import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { EventFields, EventKind } from '../../kernel/feed/eventFields.js';
import { ConnectionOf, TotalCount } from '../../kernel/model/connection.js';
import { Entity, JsonObject, Position } from '../../kernel/model/fields.js';

@Entity('Something that happened in the workspace')
export class Event extends EventFields {
  @JsonObject(1024, 'The record as it was then', { required: true }) data: object;
}

@ArgsType()
export class EventList {
  @Field(() => [String], { nullable: true, description: 'Only events of these names' }) names?: string[];
  @Field(() => [EventKind], { nullable: true, description: 'Only events of these kinds' }) kinds?: string[];
  @Field(() => String, {
    nullable: true,
    description: 'The position to go on after; "latest" is where the feed ends; all of the last 30 days by default',
  })
  after?: string;
  @Field(() => Int, { nullable: true, description: 'How many, at most 200; 50 by default' }) first?: number;
  @Field(() => Int, { nullable: true, description: 'The same; beats first' }) perPage?: number;
  @Field(() => TotalCount, { nullable: true, description: 'How the total is found; exactly by default' }) count?: TotalCount;
  selection: ReadonlySet<string>;
}

@ObjectType({ description: 'A page of events' })
export class EventConnection extends ConnectionOf(Event) {
  @Position('The position to ask after next: of the last event here, or of the end of the feed where no more are wanted') position: string;
}
