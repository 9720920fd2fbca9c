import { Ctx, FieldResolver, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { IdArg } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Unprocessable } from '../../kernel/model/unprocessable.js';
import { Detached } from '../../kernel/operations/operation.js';
import { assignLine } from './vendorLine.assign.js';
import { AssignLineInput, ConnectVendorLineInput, LineInventory, LineOutcome, VendorLine } from './vendorLine.model.js';
import * as lines from './vendorLine.service.js';

@Resolver(() => VendorLine)
@Access({ scope: 'settings', permission: 'settings:edit' })
export class VendorLineResolver {
  @Query(() => VendorLine, { description: 'Whether the vendor of lines is connected, and who has which line' })
  @Access({ scope: 'settings' })
  vendorLine(@Ctx() ctx: Context) {
    return lines.getVendorLine(ctx);
  }

  @Query(() => LineInventory, { description: 'The lines of the vendor with their agents, and assignments that it no longer lists' })
  vendorLines(@Ctx() ctx: Context) {
    return lines.getLineInventory(ctx);
  }

  @Mutation(() => VendorLine, { description: 'Keeps a key of the vendor of lines, once the vendor has verified it' })
  @Unprocessable()
  @Detached()
  connectVendorLine(@Ctx() ctx: Context, @In() input: ConnectVendorLineInput) {
    return lines.connectVendorLine(ctx, input);
  }

  @Mutation(() => VendorLine, { description: 'Forgets the key and releases every line' })
  disconnectVendorLine(@Ctx() ctx: Context) {
    return lines.disconnectVendorLine(ctx);
  }

  @Mutation(() => LineOutcome, { description: 'Assigns a line to an agent, or releases it' })
  @Detached()
  assignLine(@Ctx() ctx: Context, @IdArg('lineId') lineId: string, @In() input: AssignLineInput) {
    return assignLine(ctx, lineId, input);
  }
}

/** What assigning a line answers leads to all that it changed: the assignment that it made, and those that are no longer there. */
@Resolver(() => LineOutcome)
@Access({ scope: 'settings' })
export class LineOutcomeResolver {
  @FieldResolver(() => VendorLine, { description: 'The settings of the vendor of lines as they are now, with who has which line' })
  vendorLine(@Ctx() ctx: Context) {
    return lines.getVendorLine(ctx);
  }
}
