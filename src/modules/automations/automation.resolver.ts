import { Arg, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems, Weighs } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';
import { triggerEvents } from './automation.catalog.js';
import { ResolvedName, ResolveInput, TriggerEvent } from './automation.catalog.model.js';
import {
  Automation,
  AutomationBlocker,
  AutomationConnection,
  AutomationKind,
  AutomationList,
  AutomationSigningSecret,
  CreateAutomationInput,
  UpdateAutomationInput,
} from './automation.model.js';
import { blockersOf, publishAutomation } from './automation.publish.js';
import { resolveNames } from './automation.resolve.js';
import * as automations from './automation.service.js';
import { automationTable } from './automation.table.js';

@Resolver(() => Automation)
@Access({ scope: 'automations' })
export class AutomationResolver {
  @Query(() => AutomationConnection, { description: 'Automations, newest first unless sorted otherwise' })
  @Reads(automationTable)
  automations(@Ctx() ctx: Context, @Listing() args: AutomationList) {
    return automations.listAutomations(ctx, args);
  }

  @Query(() => Automation, { nullable: true, description: 'One automation' })
  @Reads(automationTable)
  automation(@Ctx() ctx: Context, @IdArg() id: string) {
    return automations.getAutomation(ctx, id);
  }

  @Query(() => AutomationSigningSecret, {
    nullable: true,
    description: 'What signs what an automation sends, the call of its runner included: always the same, for those who check it',
  })
  @Access({ scope: 'automations', role: 'admin', admin: true })
  automationSigningSecret(@Ctx() ctx: Context, @IdArg() id: string) {
    return automations.signingSecret(ctx, id);
  }

  @Query(() => [TriggerEvent], { description: 'Every event that may start runs, with what it carries' })
  @MaxItems(500)
  triggerEvents(
    @Ctx() ctx: Context,
    @Arg('kind', () => AutomationKind, { nullable: true, description: 'The kind of automations; every event starts both' })
    kind?: keyof typeof AutomationKind,
  ) {
    return triggerEvents(ctx, kind ?? undefined);
  }

  @FieldResolver(() => [AutomationBlocker], { description: 'What stands against publishing its draft' })
  @MaxItems(100)
  @Weighs(20)
  async blockers(@Ctx() ctx: Context, @Root() { id }: Automation) {
    return blockersOf(ctx, await automations.draftOf(ctx, id));
  }

  @Mutation(() => Automation, { description: 'Makes an automation, a draft' })
  createAutomation(@Ctx() ctx: Context, @In() input: CreateAutomationInput) {
    return automations.createAutomation(ctx, input);
  }

  @Mutation(() => Automation, { description: 'Changes the draft of an automation, or starts and stops it' })
  updateAutomation(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateAutomationInput) {
    return automations.updateAutomation(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes an automation and ends its runs' })
  deleteAutomation(@Ctx() ctx: Context, @IdArg() id: string) {
    return automations.deleteAutomation(ctx, id);
  }

  @Mutation(() => Automation, { description: 'Makes the draft the version by which new runs go' })
  publishAutomation(@Ctx() ctx: Context, @IdArg() id: string) {
    return publishAutomation(ctx, id);
  }

  @Mutation(() => [ResolvedName], { description: 'Finds the ids of records by their names; changes nothing' })
  @MaxItems(100)
  resolveNames(@Ctx() ctx: Context, @In() input: ResolveInput) {
    return resolveNames(ctx, input);
  }
}
