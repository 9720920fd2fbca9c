import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { First, firstOf } from '../../kernel/lists/relatedRows.js';
import { Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Company } from '../companies/company.model.js';
import { Contact } from '../contacts/contact.model.js';
import { Deal } from '../deals/deal.model.js';
import { User } from '../users/user.model.js';
import { Activity, ActivityConnection, ActivityList, CreateActivityInput } from './activity.model.js';
import * as activities from './activity.service.js';

@Resolver(() => Activity)
@Access({ scope: 'activities' })
export class ActivityResolver {
  @Query(() => ActivityConnection, { description: 'The log, newest first: entries written by hand and changes of records' })
  activities(@Ctx() ctx: Context, @Listing() args: ActivityList) {
    return activities.listActivities(ctx, args);
  }

  @Mutation(() => Activity, { description: 'Writes a log entry by hand' })
  createActivity(@Ctx() ctx: Context, @In() input: CreateActivityInput) {
    return activities.createActivity(ctx, input);
  }

  @FieldResolver(() => Contact, { nullable: true, description: 'The contact that it happened with' })
  contact(@Ctx() ctx: Context, @Root() activity: Activity) {
    return ctx.load.contact.maybe(activity.contactId);
  }

  @FieldResolver(() => Deal, { nullable: true, description: 'The deal that it belongs to' })
  deal(@Ctx() ctx: Context, @Root() activity: Activity) {
    return ctx.load.deal.maybe(activity.dealId);
  }

  @FieldResolver(() => User, { nullable: true, description: 'Who did it' })
  user(@Ctx() ctx: Context, @Root() activity: Activity) {
    return ctx.load.user.maybe(activity.userId);
  }
}

@Resolver(() => Contact)
export class ContactActivitiesResolver {
  @FieldResolver(() => [Activity], { description: 'What happened with the contact, newest first' })
  activities(@Ctx() ctx: Context, @Root() contact: Contact, @First() first: number) {
    return ctx.load.activitiesOfContact.load(firstOf(contact.id, first));
  }
}

@Resolver(() => Company)
export class CompanyActivitiesResolver {
  @FieldResolver(() => [Activity], { description: 'Changes of the company, newest first' })
  activities(@Ctx() ctx: Context, @Root() company: Company, @First() first: number) {
    return ctx.load.activitiesOfCompany.load(firstOf(company.id, first));
  }
}

@Resolver(() => Deal)
export class DealActivitiesResolver {
  @FieldResolver(() => [Activity], { description: 'What happened with the deal, newest first' })
  activities(@Ctx() ctx: Context, @Root() deal: Deal, @First() first: number) {
    return ctx.load.activitiesOfDeal.load(firstOf(deal.id, first));
  }
}
