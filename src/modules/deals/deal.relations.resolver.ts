import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import type { Context } from '../../kernel/context/context.js';
import { First, firstOf } from '../../kernel/lists/relatedRows.js';
import { Company } from '../companies/company.model.js';
import { Contact } from '../contacts/contact.model.js';
import { Pipeline, Stage } from '../pipelines/pipeline.model.js';
import { User } from '../users/user.model.js';
import { Deal } from './deal.model.js';

@Resolver(() => Contact)
export class ContactDealsResolver {
  @FieldResolver(() => [Deal], { description: 'Deals with the contact, newest first' })
  deals(@Ctx() ctx: Context, @Root() { id }: Contact, @First() first: number) {
    return ctx.load.dealsOfContact.load(firstOf(id, first));
  }
}

@Resolver(() => Company)
export class CompanyDealsResolver {
  @FieldResolver(() => [Deal], { description: 'Deals with the company, newest first' })
  deals(@Ctx() ctx: Context, @Root() { id }: Company, @First() first: number) {
    return ctx.load.dealsOfCompany.load(firstOf(id, first));
  }
}

@Resolver(() => User)
export class UserDealsResolver {
  @FieldResolver(() => [Deal], { description: 'Deals that the user looks after, newest first' })
  deals(@Ctx() ctx: Context, @Root() { id }: User, @First() first: number) {
    return ctx.load.dealsOfUser.load(firstOf(id, first));
  }
}

@Resolver(() => Pipeline)
export class PipelineDealsResolver {
  @FieldResolver(() => [Deal], { description: 'The deals in the pipeline, newest first; its stages have theirs as on the board' })
  deals(@Ctx() ctx: Context, @Root() { id }: Pipeline, @First() first: number) {
    return ctx.load.dealsOfPipeline.load(firstOf(id, first));
  }
}

@Resolver(() => Stage)
export class StageDealsResolver {
  @FieldResolver(() => [Deal], { description: 'The deals in the stage, in the order of the board' })
  deals(@Ctx() ctx: Context, @Root() { id }: Stage, @First() first: number) {
    return ctx.load.dealsOfStage.load(firstOf(id, first));
  }
}
