import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Call, CallConnection, CallList, CreateCallInput, UpdateCallInput } from './call.model.js';
import * as calls from './call.service.js';
import { callTable } from './call.table.js';

@Resolver(() => Call)
@Access({ scope: 'calls' })
export class CallResolver {
  @Query(() => CallConnection, { description: 'Calls that are over, the latest first unless sorted otherwise' })
  @Reads(callTable)
  calls(@Ctx() ctx: Context, @Listing() args: CallList) {
    return calls.listCalls(ctx, args);
  }

  @Query(() => Call, { nullable: true, description: 'One call' })
  @Reads(callTable)
  call(@Ctx() ctx: Context, @IdArg() id: string) {
    return calls.getCall(ctx, id);
  }

  @Mutation(() => Call, { description: 'Logs a call that was held elsewhere; nobody is called' })
  createCall(@Ctx() ctx: Context, @In() input: CreateCallInput) {
    return calls.createCall(ctx, input);
  }

  @Mutation(() => Call, { description: 'Changes what is logged of a call' })
  updateCall(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateCallInput) {
    return calls.updateCall(ctx, id, input);
  }
}
