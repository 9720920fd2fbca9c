import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { Targets } from '../../kernel/model/bulkFields.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Entity,
  Fraction,
  Id,
  Input,
  JsonObject,
  Moment,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Stamp,
  Text,
} from '../../kernel/model/fields.js';

export const AutomationRunStatus = oneOf(
  'AutomationRunStatus',
  {
    running: 'Its steps are being done',
    waiting: 'It stands at a wait',
    success: 'It came to an end',
    failed: 'A step failed, it led to itself, or it took too many steps',
    cancelled: 'It was ended before its end',
  },
  'How a run stands: under way, at a wait, or ended; what has ended stays so',
);
export const AutomationRunEnd = oneOf(
  'AutomationRunEnd',
  {
    completed: 'It came to an end',
    failed: 'A step failed',
    loop: 'It was started by itself, or by too long a chain of runs',
    too_many_steps: 'It took more steps than a run may',
    contact_deleted: 'Its contact was deleted',
    merged: 'Its contact was merged into one who is in a run too',
    automation_deleted: 'Its automation was deleted',
  },
  'Why a run ended: it came to an end; a step failed; it was started by itself, or by too long a chain of runs; it took more steps than a run may; its contact was deleted, or merged into one who is in a run too; its automation was deleted',
);

/** What an automation does, once: for a contact, about an event, or at a moment of its schedule. */
@Entity('A run of an automation', { scope: 'automations' })
export class AutomationRun {
  @Id() id: string;
  @Ref('The automation', { required: true }) automationId: string;
  @Count('The version that it goes by', { required: true }) version: number;
  @Ref('The contact whom it is for; none where it is for nobody') contactId: string | null;
  @OneOf(AutomationRunStatus, 'How it stands', { required: true }) status: keyof typeof AutomationRunStatus;
  @Text(100, 'The event that started it') triggerEvent: string | null;
  @Ref('The id of that event') eventId: string | null;
  @Text(100, 'The type of the record that the event is about') entityType: string | null;
  @Ref('The id of that record') entityId: string | null;
  @Stamp('The moment of the schedule that started it', {}) scheduledFor: Date | null;
  @Text(200, 'The node that is next, or that it waits at') currentNodeId: string | null;
  @Stamp('When its wait ends by itself', {}) waitUntil: Date | null;
  @Text(100, 'The event that it waits for') waitEvent: string | null;
  @Text(200, 'The last goal that it reached') goalNodeId: string | null;
  @Count('How many steps it has done', { required: true }) steps: number;
  @Text(2000, 'What went wrong') error: string | null;
  @OneOf(AutomationRunEnd, 'Why it ended') endReason: keyof typeof AutomationRunEnd | null;
  @Stamp('When it started') startedAt: Date;
  @Stamp('When it ended', {}) completedAt: Date | null;
  @Fraction('How long it took, in milliseconds') durationMs: number | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

export const AutomationStepType = oneOf(
  'AutomationStepType',
  {
    trigger: 'The start',
    condition: 'Asked whether conditions hold',
    branch: 'Chose one of several ways',
    action: 'Did something',
    wait: 'Waited for a span, a moment or an event',
    goal: 'Looked whether a goal is met',
    end: 'Ended the run',
    ext: 'Called the runner of an ext automation',
  },
  'What a step did: the type of its node, or the call of a runner',
);
export const AutomationStepStatus = oneOf(
  'AutomationStepStatus',
  {
    waiting: 'It waits',
    completed: 'It was done',
    skipped: 'There was nothing to do, it was not allowed, or the goal is not met',
    failed: 'It could not be done',
    cancelled: 'The run ended before it was done',
  },
  'How a step went: it waits; it was done; there was nothing to do, or it was not allowed; it could not be done; the run ended first',
);

/** Decisions, "step-logs". */
@Entity('A step of a run, as it was done', { scope: 'automations' })
export class AutomationStepLog {
  @Id() id: string;
  @Ref('The automation', { required: true }) automationId: string;
  @Ref('The run', { required: true }) runId: string;
  @Text(200, 'The node', { required: true }) nodeId: string;
  @Count('Its place among the steps of the run, from 1', { required: true }) nth: number;
  @OneOf(AutomationStepType, 'What it did', { required: true }) type: keyof typeof AutomationStepType;
  @OneOf(AutomationStepStatus, 'How it went', { required: true }) status: keyof typeof AutomationStepStatus;
  @JsonObject(1024, 'What it was given: the config of its node') input: object | null;
  @JsonObject(1024, 'What came of it: the values that conditions saw, what an action made, where it went on') output: object | null;
  @Text(2000, 'What went wrong') error: string | null;
  @Stamp('When it began') startedAt: Date;
  @Stamp('When it was done', {}) completedAt: Date | null;
  @Fraction('How long it took, in milliseconds') durationMs: number | null;
}

/** The most contacts of one request. */
export const mostEnrolled = 1000;

/** Contract POST /automations/{id}/bulk-enroll. */
@Input('Contacts to start runs for')
export class EnrollAutomationInput {
  @Targets(mostEnrolled, 'The contacts') contactIds: string[];
}

export const AutomationEnrollOutcome = oneOf(
  'AutomationEnrollOutcome',
  { enrolled: 'A run was started', skipped: 'No run was started; the reason says why' },
  'What became of the run that was to begin for one contact',
);
export const AutomationEnrollSkip = oneOf(
  'AutomationEnrollSkip',
  { already_enrolled: 'The contact is in a run of the automation', not_found: 'No contact of the workspace has this id' },
  'Why no run of an automation begins for a contact',
);

@Entity('What became of one contact')
export class AutomationEnrollDetail {
  @Text(200, 'The contact, as it was given', { required: true }) contactId: string;
  @OneOf(AutomationEnrollOutcome, 'What became of it', { required: true }) status: keyof typeof AutomationEnrollOutcome;
  @OneOf(AutomationEnrollSkip, 'Why it was skipped') reason: keyof typeof AutomationEnrollSkip | null;
  @Ref('The run that was started') runId: string | null;
}

@Entity('What became of contacts for whom runs were to start')
export class AutomationEnrollResult {
  /** The automation, for who asks for it. */
  automationId: string;
  @Count('How many runs were started', { required: true }) enrolled: number;
  @Count('How many contacts were skipped', { required: true }) skipped: number;
  @Nested(
    () => AutomationEnrollDetail,
    () => AutomationEnrollDetail,
    'Each of them, in the order of the request',
    { list: mostEnrolled, required: true },
  )
  details: AutomationEnrollDetail[];
}

/** Decisions, "analytics". Rates are of the runs that came to their end, or failed. */
@Entity('How an automation does')
export class AutomationAnalytics {
  @Count('How many runs it had', { required: true }) triggerCount: number;
  @Count('How many of them came to their end', { required: true }) successCount: number;
  @Count('How many failed', { required: true }) failureCount: number;
  @Fraction('Of those the share that came to their end, 0 to 1; 0 of none', { required: true }) successRate: number;
  @Fraction('Of those the share that failed, 0 to 1; 0 of none', { required: true }) failureRate: number;
  @Fraction('How long those that came to their end took on average, in milliseconds') avgDurationMs: number | null;
}

/** Decisions, "node-stats". */
@Entity('How often runs came to a node')
export class AutomationNodeStats {
  @Text(200, 'The node', { required: true }) nodeId: string;
  @Count('How often a run came to it', { required: true }) entered: number;
  @Count('How often it was done', { required: true }) completed: number;
  @Count('How often it failed', { required: true }) failed: number;
  @Count('How many runs wait at it', { required: true }) waiting: number;
}

@Input('Which runs')
export class AutomationRunFilter {
  @Ref('Of this automation') automationId?: string | null;
  @Ref('Of this contact') contactId?: string | null;
  @OneOf(AutomationRunStatus, 'How they stand') status?: keyof typeof AutomationRunStatus | null;
  @Moment('Started at or after') startedFrom?: string | null;
  @Moment('Started at or before; a day counts as a whole') startedTo?: string | null;
}

export const AutomationRunSort = oneOf('AutomationRunSort', ['startedAt'], 'Sort keys of runs of automations');

@ArgsType()
export class AutomationRunList extends ListArgsOf(AutomationRunFilter, AutomationRunSort) {}

@ObjectType({ description: 'A page of runs of automations' })
export class AutomationRunConnection extends ConnectionOf(AutomationRun) {}

@Input('Which steps')
export class AutomationStepLogFilter {
  @Ref('Of this automation') automationId?: string | null;
  @Ref('Of this run') runId?: string | null;
  @Text(200, 'Of this node') nodeId?: string | null;
  @OneOf(AutomationStepStatus, 'How they went') status?: keyof typeof AutomationStepStatus | null;
}

export const AutomationStepLogSort = oneOf('AutomationStepLogSort', ['startedAt', 'nth'], 'Sort keys of steps');

@ArgsType()
export class AutomationStepLogList extends ListArgsOf(AutomationStepLogFilter, AutomationStepLogSort) {}

@ObjectType({ description: 'A page of steps' })
export class AutomationStepLogConnection extends ConnectionOf(AutomationStepLog) {}

/** What is told of runs and of their steps: neither starts a run. */
export const automationRunEvents = eventsOf('automation_run', 'AutomationRun', ['created', 'updated']);
export const automationStepLogEvents = eventsOf('automation_step_log', 'AutomationStepLog', ['created', 'updated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    automationRun: typeof automationRunEvents;
    automationStepLog: typeof automationStepLogEvents;
  }
}
