import { Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { LiveCall, LiveCallConnection, LiveCallList } from './liveCall.model.js';
import * as calls from './liveCall.service.js';
import { liveCallTable } from './liveCall.table.js';

@Resolver(() => LiveCall)
@Access({ scope: 'calls' })
export class LiveCallResolver {
  @Query(() => LiveCallConnection, { description: 'Calls that go on now, the latest first' })
  @Reads(liveCallTable)
  liveCalls(@Ctx() ctx: Context, @Listing() args: LiveCallList) {
    return calls.listLiveCalls(ctx, args);
  }

  @Query(() => LiveCall, { nullable: true, description: 'One call that goes on now' })
  @Reads(liveCallTable)
  liveCall(@Ctx() ctx: Context, @IdArg() id: string) {
    return calls.getLiveCall(ctx, id);
  }
}
