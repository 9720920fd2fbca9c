import { Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { Reads } from '../../kernel/lists/reads.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { MaxItems } from '../../kernel/model/recordMarks.js';
import {
  CreateInvoiceInput,
  Invoice,
  InvoiceConnection,
  InvoiceList,
  mostPayments,
  Payment,
  PaymentConnection,
  PaymentList,
  RecordedPayment,
  RecordPaymentInput,
  UpdateInvoiceInput,
} from './invoice.model.js';
import { listAllPayments, listPayments, recordPayment } from './invoice.payments.js';
import * as invoices from './invoice.service.js';
import { invoiceTable, paymentTable } from './invoice.table.js';

@Resolver(() => Invoice)
@Access({ scope: 'invoices' })
export class InvoiceResolver {
  @Query(() => InvoiceConnection, { description: 'Invoices, newest first unless sorted otherwise' })
  @Reads(invoiceTable)
  invoices(@Ctx() ctx: Context, @Listing() args: InvoiceList) {
    return invoices.listInvoices(ctx, args);
  }

  @Query(() => Invoice, { nullable: true, description: 'One invoice' })
  @Reads(invoiceTable)
  invoice(@Ctx() ctx: Context, @IdArg() id: string) {
    return invoices.getInvoice(ctx, id);
  }

  @Query(() => PaymentConnection, { description: 'Payments for all invoices, those of the latest moment first unless sorted otherwise' })
  @Reads(paymentTable)
  payments(@Ctx() ctx: Context, @Listing() args: PaymentList) {
    return listAllPayments(ctx, args);
  }

  @Query(() => [Payment], { nullable: true, description: 'The payments of an invoice, in the order in which they were recorded' })
  @MaxItems(mostPayments)
  invoicePayments(@Ctx() ctx: Context, @IdArg() id: string) {
    return listPayments(ctx, id);
  }

  @Mutation(() => Invoice, { description: 'Makes an invoice, a draft' })
  createInvoice(@Ctx() ctx: Context, @In() input: CreateInvoiceInput) {
    return invoices.createInvoice(ctx, input);
  }

  @Mutation(() => Invoice, { description: 'Changes a draft' })
  updateInvoice(@Ctx() ctx: Context, @IdArg() id: string, @In() input: UpdateInvoiceInput) {
    return invoices.updateInvoice(ctx, id, input);
  }

  @Mutation(() => Invoice, { description: 'Marks a draft as sent; what was sent stays as it is' })
  sendInvoice(@Ctx() ctx: Context, @IdArg() id: string) {
    return invoices.sendInvoice(ctx, id);
  }

  @Mutation(() => Invoice, { description: 'Voids an invoice for which no money was received; there is no way back' })
  voidInvoice(@Ctx() ctx: Context, @IdArg() id: string) {
    return invoices.voidInvoice(ctx, id);
  }

  @Mutation(() => RecordedPayment, { description: 'Records money received; a draft or sent invoice is paid once the total is covered' })
  recordInvoicePayment(@Ctx() ctx: Context, @IdArg() id: string, @In() input: RecordPaymentInput) {
    return recordPayment(ctx, id, input);
  }
}
