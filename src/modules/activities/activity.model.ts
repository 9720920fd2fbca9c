import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Entity, Id, Input, JsonObject, Moment, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

/** Contract "Activity (log entry)": what is written by hand, one line a field. */
@ObjectType()
export class ActivityFields {
  @Text(100, 'What kind of thing happened: call, meeting … or the name of an event', { required: true }) type: string;
  @Text(500, 'What happened, in a line', { required: true }) title: string;
  @Text(5000, 'More about it; of a change how the record is called, and what it led to before and since') description: string | null;
  @Ref('The contact that it happened with') contactId: string | null;
  @Ref('The deal that it belongs to') dealId: string | null;
  @JsonObject(64, 'Anything else') metadata: object | null;
}

export const ActivityAction = oneOf(
  'ActivityAction',
  { created: 'It was made', updated: 'It was changed', deleted: 'It was deleted' },
  'What was done with a record',
);

@Entity('An entry of the log: written by hand, or left by a change of a record', { scope: 'activities' })
export class Activity extends ActivityFields {
  @Id() id: string;
  @Text(50, 'The kind of record that changed: contact, deal, task …') entityType: string | null;
  @Ref('The record that changed') entityId: string | null;
  @OneOf(ActivityAction, 'What was done with it') action: keyof typeof ActivityAction | null;
  @JsonObject(64, 'The changed fields, each with its values {from, to}') changes: object | null;
  @JsonObject(64, 'What the changed fields lead to (stages, people, companies …), as it was called at the time, by its id')
  names: object | null;
  @Ref('Who did it') userId: string | null;
  @Text(200, 'Their name at the time') userName: string | null;
  @Stamp('When it happened') timestamp: Date;
}

@Input('A log entry')
export class CreateActivityInput extends New(ActivityFields) {}

/** Contract GET /activities. */
@Input('Which log entries')
export class ActivityFilter {
  @Ref('Contact') contactId?: string | null;
  @Ref('Deal') dealId?: string | null;
  @Text(100, 'What kind of thing happened') type?: string | null;
  @Moment('Happened at or after') fromDate?: string | null;
  @Moment('Happened at or before') toDate?: string | null;
  @Text(200, 'Part of the title, the description or the name of who did it') search?: string | null;
  @Ref('The record that changed') entityId?: string | null;
  @Ref('Who did it') userId?: string | null;
}

export const ActivitySort = oneOf('ActivitySort', ['timestamp'], 'The order of log entries');

@ArgsType()
export class ActivityList extends ListArgsOf(ActivityFilter, ActivitySort, 'the newest entries come first') {}

@ObjectType({ description: 'A page of log entries' })
export class ActivityConnection extends ConnectionOf(Activity) {}

/** What is told of entries written by hand, which stay as they are. */
export const activityEvents = eventsOf('activity', 'Activity', ['created']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    activity: typeof activityEvents;
  }
}
