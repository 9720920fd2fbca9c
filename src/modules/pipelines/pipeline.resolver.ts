import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';
import { TakesLong } from '../../kernel/operations/operation.js';
import {
  CreatePipelineInput,
  CreateStageInput,
  DeletedStage,
  mostStages,
  Pipeline,
  PipelineConnection,
  PipelineList,
  PipelineStatistics,
  Stage,
  StageStatistics,
  UpdatePipelineInput,
  UpdateStageInput,
} from './pipeline.model.js';
import * as pipelines from './pipeline.service.js';
import { pipelineTable } from './pipeline.table.js';
import * as stages from './stage.service.js';

/** Contract "Authentication", 6: pipelines are made, and so changed, by owners and admins. */
const administration = { scope: 'deals', role: 'admin' } as const;

@Resolver(() => Pipeline)
@Access({ scope: 'deals' })
export class PipelineResolver {
  @Query(() => PipelineConnection, { description: 'Pipelines, in their order unless sorted otherwise' })
  @Reads(pipelineTable)
  pipelines(@Ctx() ctx: Context, @Listing() args: PipelineList) {
    return pipelines.listPipelines(ctx, args);
  }

  @Query(() => Pipeline, { nullable: true, description: 'One pipeline; the default one without an id' })
  @Reads(pipelineTable)
  pipeline(@Ctx() ctx: Context, @IdArg('id', { nullable: true }) id?: string | null) {
    return pipelines.getPipeline(ctx, id);
  }

  @Mutation(() => Pipeline, { description: 'Makes a pipeline with its stages' })
  @Access(administration)
  createPipeline(@Ctx() ctx: Context, @In() input: CreatePipelineInput) {
    return pipelines.createPipeline(ctx, input);
  }

  @Mutation(() => Pipeline, { description: 'Changes a pipeline' })
  @Access(administration)
  updatePipeline(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdatePipelineInput) {
    return pipelines.updatePipeline(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes a pipeline and the deals in it' })
  @Access(administration)
  @TakesLong()
  deletePipeline(@Ctx() ctx: Context, @IdArg() id: string) {
    return pipelines.deletePipeline(ctx, id);
  }

  @FieldResolver(() => PipelineStatistics, { description: 'Its live deals in numbers' })
  statistics(@Ctx() ctx: Context, @Root() { id }: Pipeline) {
    return pipelines.pipelineStatisticsLoader(ctx).load(id);
  }
}

/** What makes sure of the pipeline of a stage. */
const OfPipeline = () => Arg('pipelineId', () => ID, { nullable: true, description: 'The pipeline that the stage must belong to' });

@Resolver(() => Stage)
@Access({ scope: 'deals' })
export class StageResolver {
  @Query(() => [Stage], { nullable: true, description: 'The stages of a pipeline, in their order' })
  @MaxItems(mostStages)
  stages(@Ctx() ctx: Context, @IdArg('pipelineId') pipelineId: string) {
    return stages.listStages(ctx, pipelineId);
  }

  @Mutation(() => Stage, { description: 'Adds a stage to a pipeline' })
  @Access(administration)
  createStage(@Ctx() ctx: Context, @IdArg('pipelineId') pipelineId: string, @In() input: CreateStageInput) {
    return stages.createStage(ctx, pipelineId, input);
  }

  @Mutation(() => Stage, { description: 'Changes a stage, or moves it within its pipeline' })
  @Access(administration)
  updateStage(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateStageInput, @OfPipeline() pipelineId?: string) {
    return stages.updateStage(ctx, id, input, pipelineId);
  }

  @Mutation(() => DeletedStage, { description: 'Deletes a stage; its deals move to the one before, else after' })
  @Access(administration)
  @TakesLong()
  deleteStage(@Ctx() ctx: Context, @IdArg() id: string, @OfPipeline() pipelineId?: string) {
    return stages.deleteStage(ctx, id, pipelineId);
  }

  @FieldResolver(() => StageStatistics, { description: 'Its live deals in numbers' })
  statistics(@Ctx() ctx: Context, @Root() stage: Stage) {
    return pipelines.figuresOfStage(ctx, stage);
  }
}
