import { Ctx, FieldResolver, Int, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Weighs } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';
import { CreateSmartListInput, SmartList, SmartListConnection, SmartListList, UpdateSmartListInput } from './smartList.model.js';
import * as smartLists from './smartList.service.js';
import { smartListTable } from './smartList.table.js';

/** A key sees and writes the lists about the records of its scopes. */
@Resolver(() => SmartList)
@Access({})
export class SmartListResolver {
  @Query(() => SmartListConnection, { description: "Shared smart lists and the caller's own, by name unless sorted otherwise" })
  @Reads(smartListTable)
  smartLists(@Ctx() ctx: Context, @Listing() args: SmartListList) {
    return smartLists.listSmartLists(ctx, args);
  }

  @Query(() => SmartList, { nullable: true, description: 'One smart list' })
  @Reads(smartListTable)
  smartList(@Ctx() ctx: Context, @IdArg() id: string) {
    return smartLists.getSmartList(ctx, id);
  }

  @Mutation(() => SmartList, { description: 'Keeps a filter under a name' })
  createSmartList(@Ctx() ctx: Context, @In() input: CreateSmartListInput) {
    return smartLists.createSmartList(ctx, input);
  }

  @Mutation(() => SmartList, { description: 'Changes a smart list: its owner or an admin may' })
  updateSmartList(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateSmartListInput) {
    return smartLists.updateSmartList(ctx, id, input);
  }

  @Mutation(() => Deleted, { description: 'Deletes a smart list, not its records: its owner or an admin may' })
  deleteSmartList(@Ctx() ctx: Context, @IdArg() id: string) {
    return smartLists.deleteSmartList(ctx, id);
  }

  @FieldResolver(() => Int, {
    nullable: true,
    description: 'How many records it shows now; null for a key that may not see what it asks for',
  })
  @Weighs(10_000)
  count(@Ctx() ctx: Context, @Root() list: SmartList) {
    return smartLists.smartListCountLoader(ctx).load(smartLists.countKey(list));
  }
}
