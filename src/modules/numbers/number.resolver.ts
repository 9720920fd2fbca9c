import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems } from '../../kernel/model/recordMarks.js';
import { Deleted } from '../../kernel/model/removal.js';
import { Detached } from '../../kernel/operations/operation.js';
import { AvailableNumber, ClaimNumberInput, PhoneNumber, PhoneNumberConnection, PhoneNumberList } from './number.model.js';
import * as numbers from './number.service.js';
import { numberTable } from './number.table.js';

@Resolver(() => PhoneNumber)
@Access({ scope: 'settings', permission: 'settings:edit' })
export class NumberResolver {
  @Query(() => PhoneNumberConnection, { description: 'The numbers of the workspace, the oldest first' })
  @Access({ scope: 'settings' })
  @Reads(numberTable)
  phoneNumbers(@Ctx() ctx: Context, @Listing() args: PhoneNumberList) {
    return numbers.listNumbers(ctx, args);
  }

  @Query(() => [AvailableNumber], { description: 'Numbers of the vendor that no workspace has claimed' })
  @MaxItems(1000)
  availablePhoneNumbers(@Ctx() ctx: Context) {
    return numbers.availableNumbers(ctx);
  }

  @Mutation(() => PhoneNumber, { description: 'Claims a number of the vendor for the workspace' })
  @Detached()
  claimPhoneNumber(@Ctx() ctx: Context, @In() input: ClaimNumberInput) {
    return numbers.claimNumber(ctx, input);
  }

  @Mutation(() => Deleted, { description: 'Gives a number back' })
  releasePhoneNumber(@Ctx() ctx: Context, @IdArg() id: string) {
    return numbers.releaseNumber(ctx, id);
  }
}
