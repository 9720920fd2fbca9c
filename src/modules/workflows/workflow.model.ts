import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Draft,
  Edit,
  Entity,
  Flag,
  Id,
  Input,
  JsonObject,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Stamp,
  Text,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';

export const WorkflowStatus = oneOf(
  'WorkflowStatus',
  { active: 'Matching events start runs', inactive: 'Nothing starts runs' },
  'Whether matching events start runs',
);

export const WorkflowActionType = oneOf(
  'WorkflowActionType',
  {
    assign_contact: 'Gives the contact to a user',
    send_email: 'Sends the contact an e-mail',
    create_task: 'Makes a task',
    update_field: 'Sets a field of the contact, or of its company, deal or task',
    send_webhook: 'Sends a signed request to an address',
    enroll_sequence: 'Enrolls the contact in a sequence',
  },
  'What an action does',
);

/** The most actions of a workflow. */
export const mostActions = 50;

/** Contract "Workflow", trigger. */
@ObjectType({ description: 'What starts a workflow' })
export class WorkflowTrigger {
  @Text(100, 'The name of an event: contact.created, deal.stage_changed, form.submitted; any that GET /events tells, those of runs aside', {
    required: true,
  })
  event: string;
  @JsonObject(
    64,
    'What must hold of the record that it happened to: {field: value}, or conditions as `filters` has them; of what changed, changes.<field>.from and .to',
  )
  conditions: object | null;
}

@Input('What starts a workflow')
export class WorkflowTriggerInput extends Draft(WorkflowTrigger) {}

/** Contract "Workflow", actions. */
@ObjectType({ description: 'One action of a workflow' })
export class WorkflowAction {
  @OneOf(WorkflowActionType, 'What it does', { required: true }) type: keyof typeof WorkflowActionType;
  @JsonObject(
    64,
    'assign_contact {userId}; send_email {templateId, or subject and body, bodyHtml}; create_task {title, description, dueInDays or dueDate, priority, assignedTo}; update_field {field, value, entity: contact, deal, company or task}; send_webhook {url, payload}; enroll_sequence {sequenceId}. Texts take merge fields: {{contact.firstName}}, {{deal.title}}, {{event.name}}, {{record.id}}, {{workspace.name}}',
    { optional: true },
  )
  config: Record<string, unknown>;
}

@Input('One action of a workflow')
export class WorkflowActionInput extends Draft(WorkflowAction) {}

/** Contract "Workflow": one line a field. */
@ObjectType()
export class WorkflowFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Text(5000, 'What it is for') description: string | null;
  @Nested(
    () => WorkflowTrigger,
    () => WorkflowTriggerInput,
    'What starts it; activating needs one',
  )
  trigger: WorkflowTrigger | null;
  @Nested(
    () => WorkflowAction,
    () => WorkflowActionInput,
    'What it does, in this order; a run keeps those of its start',
    { list: mostActions, optional: true },
  )
  actions: WorkflowAction[];
}

@Entity('What is done by itself when something happens', { scope: 'workflows' })
export class Workflow extends WorkflowFields {
  @Id() id: string;
  @Flag('Whether matching events start runs', { required: true }) isActive: boolean;
  @OneOf(WorkflowStatus, 'The same as isActive, in a word', { required: true }) status: keyof typeof WorkflowStatus;
  @Count('How many runs it had', { required: true }) runCount: number;
  @Stamp('When its last run started', {}) lastRunAt: Date | null;
  @Stamp('When it was last activated', {}) activatedAt: Date | null;
  @Ref('The user who made it') createdBy: string | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

/** Decisions, "workflow creation". */
@Input('A new workflow')
export class CreateWorkflowInput extends New(WorkflowFields) {
  @Flag('Passed over: a new workflow is inactive until it is activated') isActive?: boolean | null;
}

@ObjectType()
class ChangeableWorkflow extends WorkflowFields {
  @Flag('True activates it, and false deactivates it', { optional: true }) isActive: boolean;
}

@Input('Changes to a workflow: absent keeps, null clears; the actions are replaced, for runs to come')
export class UpdateWorkflowInput extends Edit(ChangeableWorkflow) {}

@Entity('What signs what a workflow sends')
export class WorkflowSigningSecret {
  @Text(100, 'whsec_ and base64: the whole text keys X-Service-Signature, the bytes of the base64 webhook-signature', { required: true })
  secret: string;
}

/** Contract GET /workflows. */
@Input('Which workflows')
export class WorkflowFilter {
  @Text(200, 'Part of the name') search?: string | null;
  @Flag('Only active ones, or only inactive ones') isActive?: boolean | null;
}

export const WorkflowSort = oneOf('WorkflowSort', ['createdAt', 'updatedAt', 'name'], 'Sort keys of workflows');

@ArgsType()
export class WorkflowList extends ListArgsOf(WorkflowFilter, WorkflowSort) {}

@ObjectType({ description: 'A page of workflows' })
export class WorkflowConnection extends ConnectionOf(Workflow) {}

/** What is told of workflows; activated and deactivated are told as updated, too. */
export const workflowEvents = eventsOf('workflow', 'Workflow', [...everyChange, 'activated', 'deactivated']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    workflow: typeof workflowEvents;
  }
}
