import { Field, ObjectType, registerEnumType } from 'type-graphql';
import type { Actor as ActorOf, Cause } from '../base/principal.js';
import { eventKindOf, type RecordEvents } from '../events/recordEvents.js';
import { Count, Entity, field, JsonObject, Nested, oneOf, Position, Ref, Refs, Stamp, Text, Texts } from '../model/fields.js';

/** The kinds of events as GraphQL writes them, with the names that they stand for: `deal_won` is "deal.won". */
export const EventKind: Record<string, string> = {};
registerEnumType(EventKind, { name: 'EventKind', description: 'What can happen in the workspace: the names of the events' });

/** The name, and the kind, of what a subscription begins with where that is asked for: no event of the feed. */
export const ready = 'ready';

/** Makes the kinds of what the modules declare; called before the schema is built. */
export function declareKinds(events: readonly RecordEvents[]): void {
  EventKind[ready] = ready;
  for (const name of events.flatMap(({ names }) => names)) EventKind[eventKindOf(name)] = name;
}

export const ActorKind = oneOf(
  'ActorKind',
  {
    user: 'A person',
    api_key: 'An API key',
    form: 'A form, which somebody filled in',
    sender: 'Somebody who wrote or read a message, its sending, or a sequence',
    workflow: 'A workflow',
    automation: 'An automation',
    system: 'The server by itself, for calls too',
  },
  'What kind of somebody changes records',
);

@Entity('Who did something')
export class Actor implements ActorOf {
  @field(
    'A person, an API key, a form, somebody who wrote to us, a workflow, an automation, or the system itself',
    { required: true },
    {
      type: () => ActorKind,
      check: () => undefined,
    },
  )
  kind: ActorOf['kind'];
  @Ref('Their id, of whatever kind they are; none for the system', { graphName: 'recordId' }) id: string | null;
  @Text(200, 'Their name at the time', { required: true }) name: string;
}

export const CauseKind = oneOf(
  'CauseKind',
  { workflow: 'A run of a workflow', automation: 'A run of an automation' },
  'What runs by itself when something happens',
);

@Entity('A run that led to a change')
export class EventCause implements Cause {
  @field('What ran', { required: true }, { type: () => CauseKind, check: () => undefined }) kind: Cause['kind'];
  @Ref('The id of the workflow or automation', { required: true, graphName: 'ofId' }) id: string;
  @Ref('The id of its run', { required: true }) runId: string;
}

@Entity('Changes of one bulk edit or import that are told together')
export class EventBatch {
  @Ref('The same for everything that the edit or the import does; of an import its id', { required: true, graphName: 'batchId' })
  id: string;
  @Count('How many changes are told here', { required: true }) count: number;
  @Texts(1000, 100, 'What happened, each name once', { required: true }) names: string[];
  @Refs(1000, 'The records that it happened to, each once', { required: true }) entityIds: string[];
}

/** What every event carries; the typed ones carry their record besides. */
@ObjectType()
export class EventFields {
  @Position('The position in the feed of the workspace, a decimal number; pass the last one you saw as after') id: string;
  @Ref('The id of the event, which webhooks carry as theirs', { required: true }) eventId: string;
  @Ref('The same for all events of one change of one record', { required: true }) changeId: string;
  @Text(100, 'What happened', { required: true }) name: string;
  @field('What happened: the name as one of an enumeration', { required: true }, { type: () => EventKind, check: () => undefined })
  kind: string;
  @Texts(20, 100, 'All that this change of the record was, the most specific last', { required: true }) names: string[];
  @Stamp('When it happened') createdAt: Date;
  @Text(100, 'The type of the record that it happened to, as __typename has it', { required: true }) type: string;
  @Text(100, 'The same in lower case', { required: true }) entityType: string;
  @Ref('The id of that record', { required: true }) entityId: string;
  @Nested(
    () => Actor,
    () => Actor,
    'Who did it',
    { required: true },
  )
  actor: Actor;
  @Text(
    200,
    'What the client called the mutation: its argument clientMutationId, the same in the extensions of the request, or the header X-Client-Mutation-Id',
  )
  clientMutationId: string | null;
  @Text(
    55,
    'Where the request that did it stands in a trace, as the header traceparent of W3C Trace Context has it; null where its caller was in none',
  )
  traceparent: string | null;
  @Text(512, 'What the systems before this one say of that trace, as the header tracestate has it; null where they say nothing')
  tracestate: string | null;
  @Nested(
    () => EventCause,
    () => EventCause,
    'The runs of workflows and automations that led to it, the first one first',
    { required: true, list: 100 },
  )
  causes: EventCause[];
  @Ref('The bulk edit or import that it was part of') batchId: string | null;
  @Field(() => EventBatch, { nullable: true, description: 'What is told together here, where batches were asked for' }) batch?: EventBatch;
  @JsonObject(1024, 'The fields that changed, each with its old and new value: {field: {from, to}}') changes: object | null;
}
