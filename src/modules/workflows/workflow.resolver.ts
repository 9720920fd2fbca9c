import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Weighs } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';
import { Detached } from '../../kernel/operations/operation.js';
import { dryRun, explainRun } from './run.explain.js';
import { DryRunWorkflowInput, WorkflowDryRun, WorkflowRunExplanation } from './run.explain.model.js';
import { WorkflowRun, WorkflowRunConnection, WorkflowRunList } from './run.model.js';
import * as runs from './run.service.js';
import { runTable } from './run.table.js';
import {
  CreateWorkflowInput,
  UpdateWorkflowInput,
  Workflow,
  WorkflowConnection,
  WorkflowList,
  WorkflowSigningSecret,
} from './workflow.model.js';
import * as workflows from './workflow.service.js';
import { workflowTable } from './workflow.table.js';

const OfWorkflow = () => Arg('workflowId', () => ID, { nullable: true, description: 'Only a run of this workflow' });

@Resolver(() => Workflow)
@Access({ scope: 'workflows' })
export class WorkflowResolver {
  @Query(() => WorkflowConnection, { description: 'Workflows, newest first unless sorted otherwise' })
  @Reads(workflowTable)
  workflows(@Ctx() ctx: Context, @Listing() args: WorkflowList) {
    return workflows.listWorkflows(ctx, args);
  }

  @Query(() => Workflow, { nullable: true, description: 'One workflow' })
  @Reads(workflowTable)
  workflow(@Ctx() ctx: Context, @IdArg() id: string) {
    return workflows.getWorkflow(ctx, id);
  }

  @Query(() => WorkflowSigningSecret, {
    nullable: true,
    description: 'What signs what the actions of a workflow send: always the same, for those who check it',
  })
  @Access({ scope: 'workflows', role: 'admin', admin: true })
  workflowSigningSecret(@Ctx() ctx: Context, @IdArg() id: string) {
    return workflows.signingSecret(ctx, id);
  }

  @Mutation(() => Workflow, { description: 'Makes a workflow, which is inactive until it is activated' })
  createWorkflow(@Ctx() ctx: Context, @In() input: CreateWorkflowInput) {
    return workflows.createWorkflow(ctx, input);
  }

  @Mutation(() => Workflow, { description: 'Changes a workflow, for runs to come' })
  updateWorkflow(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateWorkflowInput) {
    return workflows.updateWorkflow(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes a workflow, active or not; its runs end' })
  deleteWorkflow(@Ctx() ctx: Context, @IdArg() id: string) {
    return workflows.deleteWorkflow(ctx, id);
  }

  @Mutation(() => Workflow, { description: 'From here on matching events start runs' })
  activateWorkflow(@Ctx() ctx: Context, @IdArg() id: string) {
    return workflows.activateWorkflow(ctx, id);
  }

  @Mutation(() => Workflow, { description: 'No event starts a run any more; runs that are under way go on' })
  deactivateWorkflow(@Ctx() ctx: Context, @IdArg() id: string) {
    return workflows.deactivateWorkflow(ctx, id);
  }

  @Mutation(() => WorkflowDryRun, { description: 'What a workflow would do about a past event; nothing is written, told or sent' })
  @Detached()
  dryRunWorkflow(@Ctx() ctx: Context, @IdArg() id: string, @In() input: DryRunWorkflowInput) {
    return dryRun(ctx, id, input);
  }
}

@Resolver(() => WorkflowRun)
@Access({ scope: 'workflows' })
export class WorkflowRunResolver {
  @Query(() => WorkflowRunConnection, { description: 'Runs of workflows, newest first unless sorted otherwise' })
  @Reads(runTable)
  workflowRuns(@Ctx() ctx: Context, @Listing() args: WorkflowRunList) {
    return runs.listRuns(ctx, args);
  }

  @Query(() => WorkflowRunConnection, { nullable: true, description: 'Runs of one workflow, newest first unless sorted otherwise' })
  runsOfWorkflow(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: WorkflowRunList) {
    return workflows.listRunsOf(ctx, id, args);
  }

  @Query(() => WorkflowRun, { nullable: true, description: 'One run of a workflow' })
  workflowRun(@Ctx() ctx: Context, @IdArg() id: string, @OfWorkflow() workflowId?: string) {
    return runs.getRun(ctx, id, workflowId);
  }

  @FieldResolver(() => WorkflowRunExplanation, { description: 'Why it did what it did, and what it does next' })
  @Weighs(3)
  explanation(@Ctx() ctx: Context, @Root() { id }: WorkflowRun) {
    return explainRun(ctx, id);
  }

  @Query(() => WorkflowRunExplanation, { nullable: true, description: 'Why a run did what it did, and what it does next' })
  workflowRunExplanation(@Ctx() ctx: Context, @IdArg() id: string, @OfWorkflow() workflowId?: string) {
    return explainRun(ctx, id, workflowId);
  }

  @Mutation(() => WorkflowRun, { description: 'A failed run goes on from the action that failed' })
  retryWorkflowRun(@Ctx() ctx: Context, @IdArg() id: string, @OfWorkflow() workflowId?: string) {
    return runs.retryRun(ctx, id, workflowId);
  }
}
