import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import { Entity, Fraction, Id, Input, JsonObject, Nested, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { mostActions, WorkflowActionType } from './workflow.model.js';

export const WorkflowRunStatus = oneOf(
  'WorkflowRunStatus',
  { running: 'Its actions are being done', success: 'Its actions are done', failed: 'An action failed, or it led to itself' },
  'How a run stands',
);
export const WorkflowStepStatus = oneOf(
  'WorkflowStepStatus',
  {
    pending: 'It waits for its turn',
    success: 'It was done',
    failed: 'It failed',
    skipped: 'It was left out: the run failed before it, or nobody may write to the contact',
  },
  'What became of an action: it waits for its turn, was done, failed, or was left out, as the run failed before it or nobody may write to the contact',
);

/** Contract "Workflow run", actions. */
@ObjectType({ description: 'One action of a run' })
export class WorkflowRunAction {
  @OneOf(WorkflowActionType, 'What it does', { required: true }) type: keyof typeof WorkflowActionType;
  @OneOf(WorkflowStepStatus, 'What became of it', { required: true }) status: keyof typeof WorkflowStepStatus;
  @JsonObject(64, 'Its configuration when the run started', { required: true }) config: Record<string, unknown>;
  @JsonObject(64, 'What it did, with the ids of what it made; or {reason}, where it was skipped') result: Record<string, unknown> | null;
  @Text(1000, 'Why it failed') error: string | null;
  @Stamp('When it was done, failed or was skipped', {}) executedAt: Date | string | null;
}

/** Contract "Workflow run". */
@Entity('What a workflow did when something happened', { scope: 'workflows' })
export class WorkflowRun {
  @Id() id: string;
  @Ref('The workflow', { required: true }) workflowId: string;
  @Text(200, 'Its name when the run started', { required: true }) workflowName: string;
  @OneOf(WorkflowRunStatus, 'How it stands', { required: true }) status: keyof typeof WorkflowRunStatus;
  @Text(100, 'The event that started it', { required: true }) triggerEvent: string;
  @JsonObject(
    1024,
    'The record that it happened to, as it was then. To keys that may not see the event it is [redacted] but for ids; to those without the scope contacts, what it says of people',
  )
  triggerData: Record<string, unknown> | null;
  @Ref('The id of the event') eventId: string | null;
  @Ref('The contact that it is about') contactId: string | null;
  @Nested(
    () => WorkflowRunAction,
    () => WorkflowRunAction,
    'What became of each action',
    { required: true, list: mostActions },
  )
  actions: WorkflowRunAction[];
  @Text(
    1000,
    'Why it failed: `loop` where the workflow led to itself or ten runs led to it, `workflow_deleted`, else what its action failed of',
  )
  error: string | null;
  @Stamp('When it started') startedAt: Date;
  @Stamp('When it ended', {}) completedAt: Date | null;
  @Fraction('How long it took, in milliseconds') durationMs: number | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

/** Contract GET /workflows/{id}/runs. */
@Input('Which runs')
export class WorkflowRunFilter {
  @OneOf(WorkflowRunStatus, 'How they stand') status?: keyof typeof WorkflowRunStatus | null;
  @Ref('Of this workflow') workflowId?: string | null;
  @Ref('About this contact') contactId?: string | null;
}

export const WorkflowRunSort = oneOf('WorkflowRunSort', ['startedAt', 'createdAt', 'updatedAt'], 'Sort keys of runs');

@ArgsType()
export class WorkflowRunList extends ListArgsOf(WorkflowRunFilter, WorkflowRunSort) {}

@ObjectType({ description: 'A page of runs' })
export class WorkflowRunConnection extends ConnectionOf(WorkflowRun) {}

/** What is told of runs: that they start, and each time that something has become of their actions. */
export const workflowRunEvents = eventsOf('workflow_run', 'WorkflowRun', ['created', 'updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    workflow_run: typeof workflowRunEvents;
  }
}
