import { Entity, Input, JsonObject, Nested, OneOf, oneOf, Ref, Stamp, Text } from '../../kernel/model/fields.js';
import { ConditionSeen } from '../actions/action.model.js';
import { AutomationBlocker, mostNodes } from './automation.model.js';
import { AutomationStepStatus, AutomationStepType } from './run.model.js';

/** Contract POST /automations/{id}/dry-run. */
@Input('For whom a run is tried out')
export class DryRunInput {
  @Ref('The contact; without one the run is for nobody') contactId?: string | null;
  @JsonObject(
    256,
    'The record of the event that would start it, as it would be told; by default the contact, where the event is of one, or an example',
  )
  data?: object | null;
}

@Entity('A step as it would be done', { scope: 'automations' })
export class DryRunStep {
  @Text(200, 'The node', { required: true }) nodeId: string;
  @OneOf(AutomationStepType, 'What it does', { required: true }) type: keyof typeof AutomationStepType;
  @OneOf(AutomationStepStatus, 'How it would go', { required: true }) status: keyof typeof AutomationStepStatus;
  @JsonObject(1024, 'What it is given: the config of its node') input: object | null;
  @JsonObject(1024, 'What would come of it: the values that conditions see, what an action would do') output: object | null;
  @Text(200, 'The node that is next; none at the end') next: string | null;
  @Text(1000, 'What would go wrong') error: string | null;
  @Stamp('When it would be done') at: Date;
}

export const DryRunOutcome = oneOf(
  'DryRunOutcome',
  {
    completed: 'It comes to an end',
    repeats: 'It comes round to a node where it was',
    failed: 'A step fails',
    limit: 'It has more than 100 actions, or steps of more than 10 MB: what comes after them is not tried out',
    blocked: 'The automation cannot be published: nothing runs',
  },
  'Where a run leads: to an end, round to a node where it was, to a step that fails, to more than is tried out, or nowhere, as the automation cannot be published',
);

@Entity('What a run would do', { scope: 'automations' })
export class DryRunResult {
  @Ref('The automation', { required: true }) automationId: string;
  @Ref('The contact') contactId: string | null;
  @OneOf(DryRunOutcome, 'Where it leads', { required: true }) outcome: keyof typeof DryRunOutcome;
  @Nested(
    () => DryRunStep,
    () => DryRunStep,
    'Its steps, in their order',
    { list: mostNodes, required: true },
  )
  steps: DryRunStep[];
  @Nested(
    () => AutomationBlocker,
    () => AutomationBlocker,
    'What stands against publishing it',
    { list: 100, required: true },
  )
  blockers: AutomationBlocker[];
}

@Entity('What a run does next', { scope: 'automations' })
export class NextStep {
  @Text(200, 'The node', { required: true }) nodeId: string;
  @OneOf(AutomationStepType, 'What it does', { required: true }) type: keyof typeof AutomationStepType;
  @Stamp('When; none where only an event brings it on', {}) at: Date | null;
  @Text(100, 'The event that brings it on') event: string | null;
}

/** Why a run did what it did. */
@Entity('Why a run stands where it stands', { scope: 'automations' })
export class AutomationRunExplanation {
  @Text(1000, 'The same in words', { required: true }) summary: string;
  @JsonObject(1024, 'What started it: {event, eventId, data, changes}, or {scheduledFor}, or {} where somebody enrolled the contact', {
    required: true,
  })
  trigger: object;
  @Nested(
    () => ConditionSeen,
    () => ConditionSeen,
    'What each condition of the trigger saw; none where somebody enrolled the contact, or a schedule started it',
    { list: 200, required: true },
  )
  conditions: ConditionSeen[];
  @Nested(
    () => BehindRun,
    () => BehindRun,
    'The runs behind it, the first one first',
    { list: 10, required: true },
  )
  causes: BehindRun[];
  @Nested(
    () => NextStep,
    () => NextStep,
    'What is next; none where it has ended',
  )
  next: NextStep | null;
}

export const RunKind = oneOf('RunKind', { workflow: 'A workflow', automation: 'An automation' }, 'What a run is one of');

@Entity('A run that led to another', { scope: 'automations' })
export class BehindRun {
  @OneOf(RunKind, 'What it is a run of', { required: true }) kind: keyof typeof RunKind;
  @Ref('The workflow or the automation', { required: true }) ofId: string;
  @Ref('The run', { required: true }) runId: string;
}
