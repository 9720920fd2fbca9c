import { Count, Entity, Flag, Money, Nested, Ref, Text } from '../../kernel/model/fields.js';
import { OfRecord, RestName } from '../../kernel/model/recordMarks.js';
import { Activity } from '../activities/activity.model.js';
import { Contact } from '../contacts/contact.model.js';
import { Deal } from '../deals/deal.model.js';
import { Pipeline } from '../pipelines/pipeline.model.js';

/** How many records a list of the dashboard holds at most. */
export const most = 10;

@Entity('A stage and the live deals in it, open and closed')
export class StageFigures {
  @Ref('The stage', { required: true }) @RestName('id') stageId: string;
  @Text(200, 'Its name', { required: true }) name: string;
  @Count('How many deals stand in it', { required: true }) dealCount: number;
  @Money('The sum of their values, whatever their currency', { required: true }) totalValue: string;
}

@Entity('A pipeline, stage by stage')
export class PipelineSummary {
  @Nested(
    () => Pipeline,
    () => Pipeline,
    'The pipeline',
    { required: true },
  )
  @OfRecord('id', 'name')
  pipeline: Pipeline;
  @Nested(
    () => StageFigures,
    () => StageFigures,
    'Its stages, in their order',
    { list: 1000, required: true },
  )
  stages: StageFigures[];
}

@Entity('Live deals of one status')
export class StatusFigures {
  @Count('How many there are', { required: true }) count: number;
  @Money('The sum of their values, whatever their currency', { required: true }) totalValue: string;
}

const figures = (description: string) =>
  Nested(
    () => StatusFigures,
    () => StatusFigures,
    description,
    { required: true },
  );

@Entity('The live deals of all pipelines, by status')
export class FiguresByStatus {
  @figures('Those that are open') open: StatusFigures;
  @figures('Those that were won') won: StatusFigures;
  @figures('Those that were lost') lost: StatusFigures;
}

/** A list whose records the dashboard carries along: whoever may not read them gets it empty. */
const listOf =
  (type: () => abstract new (...args: never[]) => object, description: string): PropertyDecorator =>
  (target, name) => {
    Nested(type, type, description, { list: most, required: true })(target, name);
    OfRecord()(target, name);
  };

/**
 * Contract "Dashboard". A section that a key's scopes do not allow is empty, and its flag false; so a key needs no more than
 * the scope dashboard. Days are those of the workspace's time zone.
 */
@Entity('What stands out in the workspace now')
export class Dashboard {
  @Flag('Whether the caller sees contactCount and needsFollowUp', { required: true }) canViewContacts: boolean;
  @Flag('Whether the caller sees pipelineSummary, dealsByStatus and staleDeals', { required: true }) canViewDeals: boolean;
  @Flag('Whether the caller sees tasksDueToday and overdueTasks', { required: true }) canViewTasks: boolean;
  @Flag('Whether the caller sees messagesToday and unreadMessages', { required: true }) canViewMessages: boolean;
  @Flag('Whether the caller sees recentActivities', { required: true }) canViewActivities: boolean;
  @Count('How many contacts there are', { required: true }) contactCount: number;
  @Count('Open tasks that are due today, those among them that are already late too', { required: true }) tasksDueToday: number;
  @Count('Open tasks that were due before now', { required: true }) overdueTasks: number;
  @Count('Messages that came in or went out today', { required: true }) messagesToday: number;
  @Count('Messages that came in from contacts and that nobody has read yet', { required: true }) unreadMessages: number;
  @Nested(
    () => PipelineSummary,
    () => PipelineSummary,
    'The default pipeline; null where there is none',
  )
  pipelineSummary: PipelineSummary | null;
  @Nested(
    () => FiguresByStatus,
    () => FiguresByStatus,
    'The deals by status',
    { required: true },
  )
  dealsByStatus: FiguresByStatus;
  @listOf(() => Activity, 'What happened last, at most 10 log entries') recentActivities: Activity[];
  @listOf(() => Contact, 'Contacts of the view needs_follow_up, at most 10, those first that have waited longest')
  needsFollowUp: Contact[];
  @listOf(() => Deal, 'Open deals that nobody touched for 14 days, at most 10, those first that have lain longest')
  staleDeals: Deal[];
}
