import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { jsonObject } from '../../kernel/model/checks.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Count,
  Draft,
  Edit,
  Entity,
  Flag,
  field,
  Id,
  Input,
  JsonObject,
  OneOf,
  oneOf,
  Ref,
  Stamp,
  Text,
  TimeZone,
  Url,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { JsonObject as JsonObjectScalar } from '../../kernel/model/scalars.js';

export const AutomationKind = oneOf(
  'AutomationKind',
  { native: 'This server runs its graph', ext: 'A runner elsewhere is called at extWebhookUrl' },
  'Who runs an automation: this server by its graph, or a runner elsewhere that is called at extWebhookUrl',
);
export const AutomationStatus = oneOf(
  'AutomationStatus',
  { draft: 'It was never published', published: 'It was published; active says whether it runs' },
  'Whether an automation was ever published',
);

/** The most nodes of one graph. */
export const mostNodes = 1000;

/** The most branches of one node: each has conditions of its own, which are read and evaluated. */
export const mostBranches = 100;

/** The most branches of all nodes of a graph. */
export const mostBranchesOfGraph = 10_000;

/** The types of the nodes of a graph. */
export const nodeTypes = ['trigger', 'condition', 'branch', 'action', 'wait', 'goal', 'end'] as const;

/** JSON objects in their order; more than a graph may have are 422, which its service says. */
const Objects = (description: string) =>
  field(
    `${description}; at most ${mostNodes}`,
    {},
    { type: () => JsonObjectScalar, list: true, check: jsonObject(1024 * 1024), schema: { items: { type: 'object' } } },
  );

/** Contract "Automation", create and update: one line a field. All but the name is the draft, which holds once it is published. */
@ObjectType()
export class AutomationFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Text(5000, 'What it is for') description: string | null;
  @OneOf(AutomationKind, 'Who runs it; native by default', { optional: true }) kind: keyof typeof AutomationKind;
  @Text(100, 'The event that starts a run: contact.created') triggerEvent: string | null;
  @JsonObject(64, 'The same as an object: {event, conditions}') trigger: Record<string, unknown> | null;
  @JsonObject(64, 'What must hold of the event: {field: value}, or a tree as of filters') triggerConditions: Record<string, unknown> | null;
  @Objects('Actions in their order, each {type, config}, where there is no graph') actions: Record<string, unknown>[] | null;
  @JsonObject(1024, 'What a run does: {startNodeId, nodes [{id, type, config, next, branches [{when, next}]}]}')
  graph: Record<string, unknown> | null;
  @Count('The version of the form of the graph, as the client counts it; it is only kept') graphVersion: number | null;
  @Objects('The nodes of the graph, where they are not given in it') nodes: Record<string, unknown>[] | null;
  @Text(200, 'The node that a run begins with, where it is not given in the graph') startNodeId: string | null;
  @Text(200, 'When runs start by the clock: five fields of cron, or six with seconds') schedule: string | null;
  @TimeZone("The IANA zone of the schedule's clock; the workspace's by default") scheduleTimezone: string | null;
  @Text(100, 'The folder that it is shown in') folderId: string | null;
  @Url(2000, 'Where the runner of an ext automation is called') extWebhookUrl: string | null;
  @Text(200, "The runner's own id of what it is to run, which it is told") extWorkflowId: string | null;
}

@Entity('What is done by itself when something happens, or at set times', { scope: 'automations' })
export class Automation extends AutomationFields {
  @Id() id: string;
  @OneOf(AutomationStatus, 'Whether it was ever published', { required: true }) status: keyof typeof AutomationStatus;
  @Flag('Whether it starts runs, by its published version', { required: true }) active: boolean;
  @Url(2000, 'The same as extWebhookUrl') webhookUrl: string | null;
  @Count('The version that holds; none before it is published') publishedVersion: number | null;
  @Stamp('When that was published', {}) publishedAt: Date | null;
  @Stamp('When the schedule starts the next run', {}) nextRunAt: Date | null;
  @Stamp('When its last run started', {}) lastTriggered: Date | null;
  @Count('How many runs it had', { required: true }) runCount: number;
  @Ref('The user who made it') createdBy: string | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

export const AutomationBlockerCode = oneOf(
  'AutomationBlockerCode',
  {
    bad_graph: 'A part of a node is of a wrong type',
    too_many_nodes: 'The graph has more nodes than it may',
    missing_start: 'There is no node to start at',
    unreachable_node: 'No path leads to the node',
    unknown_node: 'The node leads to one that is not there',
    duplicate_node: 'Two nodes have one id',
    endless_loop: 'The node leads back to itself without a wait that begins anew',
    bad_trigger: 'The event starts nothing, or the start is said differently in two places',
    bad_condition: 'Conditions are missing, or cannot be asked',
    bad_branch: 'A branch lacks its conditions, or they cannot be asked, or there are too many',
    bad_action: 'An action lacks something, or names what is not there',
    bad_wait: 'A wait says not for what, or too much',
    endless_wait: 'Without a timeout the wait would never end',
    bad_end: 'Something follows an end',
    missing_url: 'An ext automation has no extWebhookUrl',
    bad_url: 'The extWebhookUrl may not be called',
  },
  'Why a draft of an automation cannot be published',
);

/** What stands against publishing, in the form of call flows. */
@Entity('Something that stands against publishing an automation', { scope: 'automations' })
export class AutomationBlocker {
  @Text(200, 'The node; none where it is the automation itself') nodeId: string | null;
  @OneOf(AutomationBlockerCode, 'What it is', { required: true }) code: keyof typeof AutomationBlockerCode;
  @Text(500, 'The same in words', { required: true }) message: string;
}

@Input('A new automation: a draft')
export class CreateAutomationInput extends New(Draft(AutomationFields)) {}

@ObjectType()
class ChangeableAutomation extends AutomationFields {
  @Flag('Whether it starts runs; one that was never published cannot. What runs goes on', { optional: true }) active: boolean;
}

@Input('Changes to the draft of an automation: absent keeps, null clears')
export class UpdateAutomationInput extends Edit(ChangeableAutomation) {}

@Entity('What signs what an automation sends')
export class AutomationSigningSecret {
  @Text(100, 'whsec_ and base64: the whole text keys X-Service-Signature, the bytes of the base64 webhook-signature', { required: true })
  secret: string;
}

/** Contract GET /automations. */
@Input('Which automations')
export class AutomationFilter {
  @Text(200, 'Part of the name') search?: string | null;
  @OneOf(AutomationKind, 'Who runs them') kind?: keyof typeof AutomationKind | null;
  @OneOf(AutomationStatus, 'Whether they were ever published') status?: keyof typeof AutomationStatus | null;
  @Flag('Only active ones, or only inactive ones') active?: boolean | null;
  @Text(100, 'Only those of this folder') folderId?: string | null;
}

export const AutomationSort = oneOf('AutomationSort', ['createdAt', 'updatedAt', 'name'], 'Sort keys of automations');

@ArgsType()
export class AutomationList extends ListArgsOf(AutomationFilter, AutomationSort) {}

@ObjectType({ description: 'A page of automations' })
export class AutomationConnection extends ConnectionOf(Automation) {}

/** What is told of automations. */
export const automationEvents = eventsOf('automation', 'Automation', [...everyChange, 'published']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    automation: typeof automationEvents;
  }
}
