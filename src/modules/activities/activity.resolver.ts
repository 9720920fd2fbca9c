import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Activity, ActivityConnection, ActivityList, CreateActivityInput } from './activity.model.js';
import * as activities from './activity.service.js';
import { activityTable } from './activity.table.js';

@Resolver(() => Activity)
@Access({ scope: 'activities' })
export class ActivityResolver {
  @Query(() => ActivityConnection, { description: 'The log, newest first: entries written by hand and changes of records' })
  @Reads(activityTable)
  activities(@Ctx() ctx: Context, @Listing() args: ActivityList) {
    return activities.listActivities(ctx, args);
  }

  @Mutation(() => Activity, { description: 'Writes a log entry by hand' })
  createActivity(@Ctx() ctx: Context, @In() input: CreateActivityInput) {
    return activities.createActivity(ctx, input);
  }
}
