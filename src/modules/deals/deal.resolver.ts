import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import { Limited } from '../../kernel/access/rateLimits.js';
import type { Context } from '../../kernel/context/context.js';
import { Deleted, IdArg, Listing, Selected } from '../../kernel/model/connection.js';
import { Arguments, In } from '../../kernel/model/fields.js';
import { Company } from '../companies/company.model.js';
import { Contact } from '../contacts/contact.model.js';
import { Pipeline, Stage } from '../pipelines/pipeline.model.js';
import { User } from '../users/user.model.js';
import { isAppointmentMissed } from './deal.clock.js';
import type { DealRow } from './deal.columns.js';
import { CreateDealInput, Deal, DealConnection, DealList, MoveDealArgs, UpdateDealInput } from './deal.model.js';
import { moveDeal } from './deal.move.js';
import * as deals from './deal.service.js';

/** A deal with the records that it leads to, where the statement that read it brought them along. */
type Carrying = DealRow & { pipeline?: Pipeline; stage?: Stage; contact?: Contact; company?: Company; assignedUser?: User };

@Resolver(() => Deal)
@Access({ scope: 'deals' })
export class DealResolver {
  @Query(() => DealConnection, { description: 'Deals, newest first unless sorted otherwise; those of a pipeline or stage as on its board' })
  deals(@Ctx() ctx: Context, @Listing() args: DealList) {
    return deals.listDeals(ctx, args);
  }

  @Query(() => Deal, { nullable: true, description: 'One deal' })
  deal(@Ctx() ctx: Context, @IdArg() id: string, @Selected() selection: ReadonlySet<string>) {
    return deals.showDeal(ctx, id, selection);
  }

  @Mutation(() => Deal, { description: 'Makes a deal' })
  @Limited('create')
  createDeal(@Ctx() ctx: Context, @In() input: CreateDealInput) {
    return deals.createDeal(ctx, input);
  }

  @Mutation(() => Deal, { description: 'Changes a deal: a stage moves it, the status won or lost closes it, open opens it again' })
  updateDeal(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateDealInput) {
    return deals.updateDeal(ctx, id, input);
  }

  @Mutation(() => Deal, {
    description: 'Moves a deal on the board: a stage that is won or lost closes it, coming out of one opens it again',
  })
  moveDeal(@Ctx() ctx: Context, @IdArg() id: string, @Arguments() args: MoveDealArgs) {
    return moveDeal(ctx, id, args);
  }

  @Mutation(() => Deleted, { description: 'Deletes a deal; what was written about it stays' })
  deleteDeal(@Ctx() ctx: Context, @IdArg() id: string) {
    return deals.deleteDeal(ctx, id);
  }

  @Mutation(() => Deal, { description: 'Brings a deleted deal back' })
  restoreDeal(@Ctx() ctx: Context, @IdArg() id: string) {
    return deals.restoreDeal(ctx, id);
  }

  @FieldResolver()
  appointmentMissed(@Ctx() ctx: Context, @Root() deal: DealRow): boolean {
    return isAppointmentMissed(deal, ctx.now());
  }

  @FieldResolver(() => Pipeline, { nullable: true, description: 'The pipeline' })
  pipeline(@Ctx() ctx: Context, @Root() deal: Carrying) {
    return deal.pipeline === undefined ? ctx.load.pipeline.load(deal.pipelineId) : deal.pipeline;
  }

  @FieldResolver(() => Stage, { nullable: true, description: 'The stage' })
  stage(@Ctx() ctx: Context, @Root() deal: Carrying) {
    return deal.stage === undefined ? ctx.load.stage.load(deal.stageId) : deal.stage;
  }

  @FieldResolver(() => Contact, { nullable: true, description: 'Whom the deal is with; null when deleted' })
  contact(@Ctx() ctx: Context, @Root() deal: Carrying) {
    return deal.contact === undefined ? ctx.load.contact.maybe(deal.contactId) : deal.contact;
  }

  @FieldResolver(() => Company, { nullable: true, description: 'The company that the deal is with; null when deleted' })
  company(@Ctx() ctx: Context, @Root() deal: Carrying) {
    return deal.company === undefined ? ctx.load.company.maybe(deal.companyId) : deal.company;
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user who looks after the deal' })
  assignedUser(@Ctx() ctx: Context, @Root() deal: Carrying) {
    return deal.assignedUser === undefined ? ctx.load.user.maybe(deal.assignedTo) : deal.assignedUser;
  }
}
