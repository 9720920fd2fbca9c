import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems, Weighs } from '../../kernel/model/recordMarks.js';
import { Detached } from '../../kernel/operations/operation.js';
import { dryRun } from './automation.dryRun.js';
import { mostNodes } from './automation.model.js';
import { enrollInAutomation } from './run.enroll.js';
import { explainRun } from './run.explain.js';
import { AutomationRunExplanation, DryRunInput, DryRunResult } from './run.explain.model.js';
import { automationAnalytics, automationNodeStats } from './run.figures.js';
import {
  AutomationAnalytics,
  AutomationEnrollResult,
  AutomationNodeStats,
  AutomationRun,
  AutomationRunConnection,
  AutomationRunList,
  AutomationStepLog,
  AutomationStepLogConnection,
  AutomationStepLogList,
  EnrollAutomationInput,
} from './run.model.js';
import * as runs from './run.service.js';
import { automationRunTable, automationStepLogTable } from './run.table.js';

@Resolver(() => AutomationRun)
@Access({ scope: 'automations' })
export class AutomationRunResolver {
  @Query(() => AutomationRunConnection, { description: 'Runs of automations, newest first unless sorted otherwise' })
  @Reads(automationRunTable)
  automationRuns(@Ctx() ctx: Context, @Listing() args: AutomationRunList) {
    return runs.listRuns(ctx, args);
  }

  @Query(() => AutomationRunConnection, { nullable: true, description: 'Runs of one automation, newest first unless sorted otherwise' })
  runsOfAutomation(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: AutomationRunList) {
    return runs.listRunsOf(ctx, id, args);
  }

  @Query(() => AutomationRun, { nullable: true, description: 'One run of an automation' })
  @Reads(automationRunTable)
  automationRun(@Ctx() ctx: Context, @IdArg() id: string) {
    return runs.getRun(ctx, id);
  }

  @Query(() => AutomationRun, { nullable: true, description: 'One run of this automation' })
  runOfAutomation(@Ctx() ctx: Context, @IdArg() id: string, @IdArg('automationId') automationId: string) {
    return runs.getRun(ctx, id, automationId);
  }

  @FieldResolver(() => AutomationRunExplanation, { description: 'Why it stands where it stands' })
  @Weighs(3)
  explanation(@Ctx() ctx: Context, @Root() { id }: AutomationRun) {
    return explainRun(ctx, id);
  }

  @Query(() => AutomationAnalytics, { nullable: true, description: 'How an automation does' })
  @Weighs(50)
  automationAnalytics(@Ctx() ctx: Context, @IdArg() id: string) {
    return automationAnalytics(ctx, id);
  }

  @Query(() => [AutomationNodeStats], { nullable: true, description: 'How often runs came to each node, of every version' })
  @MaxItems(mostNodes)
  @Weighs(50)
  automationNodeStats(@Ctx() ctx: Context, @IdArg() id: string) {
    return automationNodeStats(ctx, id);
  }

  @Mutation(() => AutomationEnrollResult, { description: 'Starts a run for each of some contacts' })
  enrollInAutomation(@Ctx() ctx: Context, @IdArg() id: string, @In() input: EnrollAutomationInput) {
    return enrollInAutomation(ctx, id, input);
  }

  @Mutation(() => DryRunResult, { description: 'The way that a contact would take through the draft; writes, tells and sends nothing' })
  @Detached()
  dryRunAutomation(@Ctx() ctx: Context, @IdArg() id: string, @In() input: DryRunInput) {
    return dryRun(ctx, id, input);
  }
}

@Resolver(() => AutomationStepLog)
@Access({ scope: 'automations' })
export class AutomationStepLogResolver {
  @Query(() => AutomationStepLogConnection, { description: 'Steps of runs, newest first unless sorted otherwise' })
  @Reads(automationStepLogTable)
  automationStepLogs(@Ctx() ctx: Context, @Listing() args: AutomationStepLogList) {
    return runs.listSteps(ctx, args);
  }

  @Query(() => AutomationStepLog, { nullable: true, description: 'One step of a run' })
  @Reads(automationStepLogTable)
  automationStepLog(@Ctx() ctx: Context, @IdArg() id: string) {
    return runs.getStep(ctx, id);
  }

  @Query(() => AutomationStepLogConnection, {
    nullable: true,
    description: 'Steps of the runs of one automation, newest first unless sorted otherwise',
  })
  stepsOfAutomation(@Ctx() ctx: Context, @IdArg() id: string, @Listing() args: AutomationStepLogList) {
    return runs.listStepsOf(ctx, id, args);
  }
}
