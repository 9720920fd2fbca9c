import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import { Limited } from '../../kernel/access/rateLimits.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { Arguments, In } from '../../kernel/model/fields.js';
import { Deleted } from '../../kernel/model/removal.js';
import { CreateDealInput, Deal, DealConnection, DealList, MoveDealArgs, UpdateDealInput } from './deal.model.js';
import { moveDeal } from './deal.move.js';
import * as deals from './deal.service.js';
import { dealTable } from './deal.table.js';

@Resolver(() => Deal)
@Access({ scope: 'deals' })
export class DealResolver {
  @Query(() => DealConnection, { description: 'Deals, newest first unless sorted otherwise; those of a pipeline or stage as on its board' })
  @Reads(dealTable)
  deals(@Ctx() ctx: Context, @Listing() args: DealList) {
    return deals.listDeals(ctx, args);
  }

  @Query(() => Deal, { nullable: true, description: 'One deal' })
  @Reads(dealTable)
  deal(@Ctx() ctx: Context, @IdArg() id: string) {
    return deals.getDeal(ctx, id);
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
    description:
      'Moves a deal on the board: a stage that is won or lost closes it, coming out of one opens it again, and a stage of another pipeline takes it there (updateDeal refuses such a stage without its pipelineId)',
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
}
