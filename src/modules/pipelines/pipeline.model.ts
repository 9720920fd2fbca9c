import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf, everyChange } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Color,
  Count,
  Draft,
  Edit,
  Entity,
  Flag,
  Id,
  Input,
  Money,
  Nested,
  oneOf,
  Ref,
  Stamp,
  Text,
  Texts,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { Deleted, Removal } from '../../kernel/model/removal.js';

/** The most stages of one pipeline: they are read with it. */
export const mostStages = 100;

/** Contract "Pipeline and stage", Stage. What a lost deal must tell hangs on the stage. */
@ObjectType()
export class StageFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Color('A hex colour; #6B7280 by default', { optional: true }) color: string;
  @Flag('Deals in it are won: a deal that is made in it is, by default', { optional: true }) isWon: boolean;
  @Flag('Deals in it are lost: a deal that is made in it is, by default', { optional: true }) isLost: boolean;
  @Money('How likely its deals are won, 0 to 1: what they begin with', { scale: 4, rounded: true, min: 0, max: 1 }) probability:
    | string
    | null;
  @Flag('Whether a deal must tell why it was lost', { optional: true }) lostReasonRequired: boolean;
  @Texts(100, 500, 'The only reasons that are taken; none here means any', { optional: true }) lostReasons: string[];
}

@Entity('A column of a pipeline', { scope: 'deals' })
export class Stage extends StageFields {
  @Id() id: string;
  @Ref('The pipeline that it belongs to', { required: true }) pipelineId: string;
  @Count('Its position in the pipeline', { required: true }) sortOrder: number;
}

@Input('A new stage')
export class CreateStageInput extends New(StageFields) {
  @Count('Its position; the last by default', { min: 0, max: 1_000_000 }) order?: number | null;
  @Count('Another name for order', { min: 0, max: 1_000_000 }) sortOrder?: number | null;
}

@Input('Changes to a stage: absent keeps, null clears')
export class UpdateStageInput extends Edit(CreateStageInput) {}

@ObjectType()
export class PipelineFields {
  @Text(200, 'The name', { required: true }) name: string;
  @Text(2000, 'What it is for') description: string | null;
}

/** Contract "Pipeline and stage", Pipeline. */
@Entity('A way that deals go, stage by stage', { scope: 'deals' })
export class Pipeline extends PipelineFields {
  @Id() id: string;
  @Flag('Whether it is the one that is meant where none is named', { required: true }) isDefault: boolean;
  @Count('Its position among the pipelines', { required: true }) sortOrder: number;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
}

@Input('A new pipeline')
export class CreatePipelineInput extends New(PipelineFields) {
  @Flag('Makes it the default; the first pipeline becomes it anyway') isDefault?: boolean | null;
  @Nested(
    () => CreateStageInput,
    () => CreateStageInput,
    'Its stages, in this order where they name none',
    { list: 50 },
  )
  stages?: CreateStageInput[] | null;
}

@Input()
class PipelineChanges extends Draft(PipelineFields) {
  @Flag('true makes it the default instead of the one that is', { required: true }) isDefault: boolean;
  @Count('Its position among the pipelines', { required: true, min: 0, max: 1_000_000 }) sortOrder: number;
}

@Input('Changes to a pipeline: absent keeps, null clears')
export class UpdatePipelineInput extends Edit(PipelineChanges) {}

@Entity('The deals of one stage, in numbers')
export class StageStatistics {
  @Ref('The stage', { required: true }) stageId: string;
  @Text(200, 'Its name', { required: true }) name: string;
  @Count('Live deals in it', { required: true }) dealCount: number;
  @Money('The sum of their values', { required: true }) totalValue: string;
  @Money('The sum of the values of the open ones, each times its probability', { required: true }) weightedValue: string;
}

@Entity('The live deals of a pipeline in numbers, whatever their currency')
export class PipelineStatistics {
  @Count('Live deals, open and closed', { required: true }) dealCount: number;
  @Money('The sum of their values', { required: true }) totalValue: string;
  @Money('The sum of the values of the open ones, each times its probability', { required: true }) weightedValue: string;
  @Money('The sum of the values of the won ones', { required: true }) wonValue: string;
  @Nested(
    () => StageStatistics,
    () => StageStatistics,
    'Stage by stage, in their order',
    { list: mostStages, required: true },
  )
  byStage: StageStatistics[];
}

@Entity('What the deletion of a stage answers', { implements: Removal })
export class DeletedStage extends Deleted {
  /** The pipeline that had it, for who asks for it. */
  pipelineId: string;
  @Count('How many live deals stood in it', { required: true }) movedDeals: number;
  @Ref('The stage that they stand in now') movedTo: string | null;
}

@Input('Which pipelines')
export class PipelineFilter {
  @Text(200, 'Part of the name') search?: string | null;
}

export const PipelineSort = oneOf('PipelineSort', ['sortOrder', 'name', 'createdAt'], 'Sort keys of pipelines');

@ArgsType()
export class PipelineList extends ListArgsOf(PipelineFilter, PipelineSort) {}

@ObjectType({ description: 'A page of pipelines' })
export class PipelineConnection extends ConnectionOf(Pipeline) {}

/** What is told of pipelines. */
export const pipelineEvents = eventsOf('pipeline', 'Pipeline', [...everyChange]);

/** What is told of stages. */
export const stageEvents = eventsOf('stage', 'Stage', [...everyChange]);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    pipeline: typeof pipelineEvents;
    stage: typeof stageEvents;
  }
}
