import { EventCause } from '../../kernel/feed/eventFields.js';
import { Count, Entity, Flag, Input, JsonObject, Nested, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { ConditionSeen } from '../actions/action.model.js';
import { WorkflowRunAction, WorkflowRunStatus } from './run.model.js';
import { mostActions, WorkflowActionType } from './workflow.model.js';

@Entity('What happened')
export class TriggeringEvent {
  @Ref('Its id') eventId: string | null;
  @Text(100, 'Its name', { required: true }) name: string;
  @Stamp('When it happened') createdAt: Date;
  @Text(100, 'The type of the record that it happened to') type: string | null;
  @Ref('The id of that record') entityId: string | null;
  @JsonObject(1024, 'What changed of it: {field: {from, to}}') changes: object | null;
  @Nested(
    () => EventCause,
    () => EventCause,
    'The runs that led to it, the first one first',
    { required: true, list: 100 },
  )
  causes: EventCause[];
}

@Entity('What a run does next')
export class NextAction {
  @Count('Its place among the actions, from 0', { required: true }) index: number;
  @OneOf(WorkflowActionType, 'What it does', { required: true }) type: keyof typeof WorkflowActionType;
  @Stamp('When', {}) at: Date | null;
  @Count('How often it was tried in vain', { required: true }) failedTries: number;
}

/** Why a run did what it did. */
@Entity('What started a run, what its conditions saw, what its actions did and what is next')
export class WorkflowRunExplanation {
  @Ref('The run', { required: true }) runId: string;
  @Ref('The workflow', { required: true }) workflowId: string;
  @OneOf(WorkflowRunStatus, 'How it stands', { required: true }) status: keyof typeof WorkflowRunStatus;
  @Text(1000, 'Why it failed') error: string | null;
  @Nested(
    () => TriggeringEvent,
    () => TriggeringEvent,
    'What started it',
    { required: true },
  )
  event: TriggeringEvent;
  @Nested(
    () => ConditionSeen,
    () => ConditionSeen,
    'What each condition of the trigger saw',
    { required: true, list: 200 },
  )
  conditions: ConditionSeen[];
  @Nested(
    () => WorkflowRunAction,
    () => WorkflowRunAction,
    'What became of each action',
    { required: true, list: mostActions },
  )
  actions: WorkflowRunAction[];
  @Nested(
    () => NextAction,
    () => NextAction,
    'What is next; null where the run has ended',
  )
  next: NextAction | null;
}

@Input('A past event to try a workflow with')
export class DryRunWorkflowInput {
  @Ref('The id of an event of the last 30 days, as webhooks and GET /events have it', { required: true }) eventId: string;
}

export const NoRunReason = oneOf(
  'NoRunReason',
  {
    another_event: 'It is not the event that starts it',
    conditions: 'A condition does not hold',
    loop: 'It came of the workflow itself, or of too long a chain of runs',
  },
  'Why an event starts no run of a workflow: it is not the one that starts it, a condition does not hold, or it came of the workflow itself',
);

/** What would come of an event. */
@Entity('What a workflow would do about a past event')
export class WorkflowDryRun {
  @Flag('Whether the event would start it, were it active', { required: true }) matches: boolean;
  @OneOf(NoRunReason, 'Why it would not') reason: keyof typeof NoRunReason | null;
  @Nested(
    () => TriggeringEvent,
    () => TriggeringEvent,
    'The event',
    { required: true },
  )
  event: TriggeringEvent;
  @Nested(
    () => ConditionSeen,
    () => ConditionSeen,
    'What each condition of the trigger would see',
    { required: true, list: 200 },
  )
  conditions: ConditionSeen[];
  @Nested(
    () => WorkflowRunAction,
    () => WorkflowRunAction,
    'What would become of each action; nothing is written, told or sent',
    { required: true, list: mostActions },
  )
  actions: WorkflowRunAction[];
}
