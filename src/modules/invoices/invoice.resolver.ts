import { Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { First, firstOf } from '../../kernel/lists/relatedRows.js';
import { IdArg, Listing } from '../../kernel/model/connection.js';
import { In } from '../../kernel/model/fields.js';
import { Holds, OfRecord } from '../../kernel/model/recordMarks.js';
import { Company } from '../companies/company.model.js';
import { Contact } from '../contacts/contact.model.js';
import { Deal } from '../deals/deal.model.js';
import { Product } from '../products/product.model.js';
import { User } from '../users/user.model.js';
import {
  CreateInvoiceInput,
  Invoice,
  InvoiceConnection,
  InvoiceItem,
  InvoiceList,
  mostPayments,
  Payment,
  RecordedPayment,
  RecordPaymentInput,
  UpdateInvoiceInput,
} from './invoice.model.js';
import { listPayments, recordPayment } from './invoice.payments.js';
import * as invoices from './invoice.service.js';

@Resolver(() => Invoice)
@Access({ scope: 'invoices' })
export class InvoiceResolver {
  @Query(() => InvoiceConnection, { description: 'Invoices, newest first unless sorted otherwise' })
  invoices(@Ctx() ctx: Context, @Listing() args: InvoiceList) {
    return invoices.listInvoices(ctx, args);
  }

  @Query(() => Invoice, { nullable: true, description: 'One invoice' })
  invoice(@Ctx() ctx: Context, @IdArg() id: string) {
    return invoices.getInvoice(ctx, id);
  }

  @Query(() => [Payment], { description: 'The payments of an invoice, in the order in which they were recorded' })
  @Holds(mostPayments)
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

  @FieldResolver(() => Contact, { nullable: true, description: 'The contact who is billed' })
  @OfRecord('id', 'firstName', 'lastName')
  contact(@Ctx() ctx: Context, @Root() invoice: Invoice) {
    return ctx.load.contact.maybe(invoice.contactId);
  }

  @FieldResolver(() => Company, { nullable: true, description: 'The company that is billed; null when deleted' })
  company(@Ctx() ctx: Context, @Root() invoice: Invoice) {
    return ctx.load.company.maybe(invoice.companyId);
  }

  @FieldResolver(() => Deal, { nullable: true, description: 'The deal that it is about; null when deleted' })
  deal(@Ctx() ctx: Context, @Root() invoice: Invoice) {
    return ctx.load.deal.maybe(invoice.dealId);
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user who made the invoice' })
  author(@Ctx() ctx: Context, @Root() invoice: invoices.InvoiceRow) {
    return ctx.load.user.maybe(invoice.createdBy);
  }
}

@Resolver(() => InvoiceItem)
export class InvoiceItemResolver {
  @FieldResolver(() => Product, { nullable: true, description: 'The product, archived or not' })
  product(@Ctx() ctx: Context, @Root() item: InvoiceItem) {
    return ctx.load.product.maybe(item.productId);
  }
}

@Resolver(() => Payment)
export class PaymentResolver {
  @FieldResolver(() => Invoice, { nullable: true, description: 'The invoice that it pays' })
  invoice(@Ctx() ctx: Context, @Root() payment: Payment) {
    return ctx.load.invoice.load(payment.invoiceId);
  }

  @FieldResolver(() => User, { nullable: true, description: 'The user who recorded the payment' })
  recorder(@Ctx() ctx: Context, @Root() payment: Payment) {
    return ctx.load.user.maybe(payment.recordedBy);
  }
}

@Resolver(() => Product)
export class ProductInvoicesResolver {
  @FieldResolver(() => [Invoice], { description: 'Invoices with an item that names the product, newest first' })
  invoices(@Ctx() ctx: Context, @Root() product: Product, @First() first: number) {
    return ctx.load.invoicesOfProduct.load(firstOf(product.id, first));
  }
}

@Resolver(() => Contact)
export class ContactInvoicesResolver {
  @FieldResolver(() => [Invoice], { description: 'Invoices to the contact, newest first' })
  invoices(@Ctx() ctx: Context, @Root() contact: Contact, @First() first: number) {
    return ctx.load.invoicesOfContact.load(firstOf(contact.id, first));
  }
}

@Resolver(() => Company)
export class CompanyInvoicesResolver {
  @FieldResolver(() => [Invoice], { description: 'Invoices to the company, newest first' })
  invoices(@Ctx() ctx: Context, @Root() company: Company, @First() first: number) {
    return ctx.load.invoicesOfCompany.load(firstOf(company.id, first));
  }
}

@Resolver(() => Deal)
export class DealInvoicesResolver {
  @FieldResolver(() => [Invoice], { description: 'Invoices about the deal, newest first' })
  invoices(@Ctx() ctx: Context, @Root() deal: Deal, @First() first: number) {
    return ctx.load.invoicesOfDeal.load(firstOf(deal.id, first));
  }
}
