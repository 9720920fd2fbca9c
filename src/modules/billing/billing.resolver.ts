import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems, OfRecord } from '../../kernel/model/recordMarks.js';
import { Detached } from '../../kernel/operations/operation.js';
import { BillingInvoice, BillingStatus, CheckoutInput, CheckoutResult, PortalResult } from './billing.model.js';
import * as billing from './billing.service.js';

@Resolver(() => BillingStatus)
@Access({ session: true, role: 'admin' })
export class BillingResolver {
  @Query(() => BillingStatus, { description: 'What the workspace pays for, and what of it is used' })
  @Access({ session: true })
  billingStatus(@Ctx() ctx: Context) {
    return billing.getStatus(ctx);
  }

  @Mutation(() => CheckoutResult, { description: 'Starts a subscription on a hosted page, or moves the existing one to another plan' })
  @Detached()
  startCheckout(@Ctx() ctx: Context, @In() input: CheckoutInput) {
    return billing.startCheckout(ctx, input);
  }

  @Mutation(() => PortalResult, { description: 'Opens the hosted page where cards and the subscription are managed' })
  @Detached()
  openBillingPortal(@Ctx() ctx: Context) {
    return billing.openPortal(ctx);
  }

  @FieldResolver(() => [BillingInvoice], { description: 'The latest bills, newest first' })
  @OfRecord('id', 'number', 'date', 'amount', 'currency', 'status', 'url')
  @MaxItems(100)
  invoiceHistory(@Ctx() ctx: Context, @Root() status: billing.StatusRow) {
    return billing.invoiceHistory(ctx, status);
  }
}
