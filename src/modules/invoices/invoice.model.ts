import { ArgsType, ObjectType } from 'type-graphql';
import { eventsOf } from '../../kernel/events/recordEvents.js';
import { ConnectionOf, ListArgsOf } from '../../kernel/model/connection.js';
import {
  Currency,
  Day,
  Draft,
  Edit,
  Entity,
  Id,
  Input,
  Moment,
  Money,
  Nested,
  OneOf,
  oneOf,
  Ref,
  Stamp,
  Text,
} from '../../kernel/model/fields.js';
import { New } from '../../kernel/model/newRecord.js';
import { OfRecord } from '../../kernel/model/recordMarks.js';

export const InvoiceStatus = oneOf(
  'InvoiceStatus',
  {
    draft: 'It can be edited',
    sent: 'It was sent, and is not yet covered',
    paid: 'Payments cover it',
    overdue: 'It was sent, its due date has passed, and it is not covered',
    void: 'It is not to be paid',
  },
  'Where an invoice stands',
);
export const PaymentMethod = oneOf(
  'PaymentMethod',
  { credit_card: 'By credit card', bank_transfer: 'By bank transfer', check: 'By check', cash: 'In cash', other: 'In another way' },
  'How a payment was made',
);

/** Contract "Invoice, item and payment", items. A discount is an item with a price below zero. */
@ObjectType()
export class InvoiceItemFields {
  @Text(1000, 'What is charged', { required: true }) description: string;
  @Money('How many; at most four decimal places', { required: true, scale: 4, min: 0.0001 }) quantity: string;
  @Money('What one costs; below zero for a discount', { required: true }) unitPrice: string;
  @Ref('The product, which may be archived') productId: string | null;
}

@Entity('A line of an invoice', { scope: 'invoices' })
export class InvoiceItem extends InvoiceItemFields {
  @Id() id: string;
  @Money('Quantity times price, rounded half up to two places', { required: true }) amount: string;
}

@Input('A line of an invoice')
export class InvoiceItemInput extends Draft(InvoiceItemFields) {}

/** The most payments of one invoice: they are read with it. */
export const mostPayments = 1000;

/** Contract "Invoice, item and payment", payments. */
@ObjectType()
export class PaymentFields {
  @Money('What was paid, in the currency of the invoice', { required: true, min: 0.01 }) amount: string;
  @OneOf(PaymentMethod, 'How it was paid; other by default', { optional: true }) method: keyof typeof PaymentMethod;
  @Text(200, 'A number that the payer or the bank gave it') reference: string | null;
  @Text(5000, 'Notes') notes: string | null;
}

@Entity('Money received for an invoice', { scope: 'invoices' })
export class Payment extends PaymentFields {
  @Id() id: string;
  @Ref('The invoice', { required: true }) invoiceId: string;
  @Stamp('When it was paid') paidAt: Date;
  @Stamp('When it was recorded') recordedAt: Date;
  @Ref('The user who recorded it') recordedBy: string | null;
}

@Input('A payment')
export class RecordPaymentInput extends New(PaymentFields) {
  @Moment('When it was paid; now by default, a day is its beginning in workspace time') paidAt?: string | null;
}

/** Contract "Invoice": one line a field that a caller writes. */
@ObjectType()
export class InvoiceFields {
  @Text(50, 'The number, unique in the workspace; the next of INV-000001, INV-000002 … by default', { optional: true })
  invoiceNumber: string;
  @Ref('The contact who is billed') contactId: string | null;
  @Ref('The company that is billed') companyId: string | null;
  @Ref('The deal that it is about') dealId: string | null;
  @Currency("ISO 4217 code; the workspace's currency by default", { optional: true }) currency: string;
  @Nested(
    () => InvoiceItem,
    () => InvoiceItemInput,
    'What is charged, at least one line',
    { required: true, list: 500, min: 1 },
  )
  items: InvoiceItemFields[];
  @Day('The last day to pay; 30 days after creation by default', { optional: true }) dueDate: string;
  @Money("Tax as a fraction: 0.0875 is 8.75 percent; the workspace's by default", { optional: true, scale: 6, min: 0, max: 1 })
  taxRate: string;
  @Text(5000, 'Notes') notes: string | null;
  @Text(5000, 'Terms of payment') terms: string | null;
}

@Entity('A bill', { scope: 'invoices' })
export class Invoice extends InvoiceFields {
  @Id() id: string;
  @OneOf(InvoiceStatus, 'Where it stands; overdue from the day after its due date in workspace time', { required: true })
  status: keyof typeof InvoiceStatus;
  @Money("The sum of the items' amounts", { required: true }) subtotal: string;
  @Money('The tax on the subtotal, rounded half up to two places', { required: true }) taxAmount: string;
  @Money('Subtotal and tax', { required: true }) total: string;
  @Money('The sum of the payments', { required: true }) amountPaid: string;
  @Stamp('When it was sent', {}) sentAt: Date | null;
  @Stamp('When the latest of the payments that cover it was made, whenever that was recorded; of one over nothing when it was sent', {})
  paidAt: Date | null;
  @Stamp('When it was voided', {}) voidedAt: Date | null;
  @Stamp('When it was made') createdAt: Date;
  @Stamp('When it was last changed') updatedAt: Date;
  @Nested(
    () => Payment,
    () => Payment,
    'The payments, in the order in which they were recorded',
    { required: true, list: mostPayments },
  )
  payments: Payment[];
}

@Input('A new invoice')
export class CreateInvoiceInput extends New(InvoiceFields) {}

@Input('Changes to a draft: absent keeps, null clears; items replace all lines')
export class UpdateInvoiceInput extends Edit(CreateInvoiceInput) {}

@Entity('A recorded payment')
export class RecordedPayment {
  @Nested(
    () => Payment,
    () => Payment,
    'The payment',
    { required: true },
  )
  payment: Payment;
  @Nested(
    () => Invoice,
    () => Invoice,
    'The invoice as it stands now',
    { required: true },
  )
  @OfRecord('id', 'status', 'total', 'amountPaid')
  invoice: Invoice;
}

/** Contract GET /invoices; REST sends them in snake_case. */
@Input('Which invoices')
export class InvoiceFilter {
  @Text(
    200,
    "The number, or the contact's name, e-mail or phone (for a key without the scope contacts the name alone): part of it from three characters on, the start of a word for one or two",
  )
  search?: string | null;
  @OneOf(InvoiceStatus, 'Where it stands') status?: keyof typeof InvoiceStatus | null;
  @Ref('Contact') contactId?: string | null;
  @Ref('Company') companyId?: string | null;
  @Ref('Deal') dealId?: string | null;
  @Moment('Made at or after') dateFrom?: string | null;
  @Moment('Made at or before') dateTo?: string | null;
}

export const InvoiceSort = oneOf('InvoiceSort', ['createdAt', 'updatedAt', 'dueDate', 'total'], 'Sort keys of invoices');

@ArgsType()
export class InvoiceList extends ListArgsOf(InvoiceFilter, InvoiceSort) {}

@ObjectType({ description: 'A page of invoices' })
export class InvoiceConnection extends ConnectionOf(Invoice) {}

@Input('Which payments')
export class PaymentFilter {
  @Ref('Invoice') invoiceId?: string | null;
  @OneOf(PaymentMethod, 'How they were made') method?: keyof typeof PaymentMethod | null;
  @Moment('Paid at or after') dateFrom?: string | null;
  @Moment('Paid at or before') dateTo?: string | null;
}

export const PaymentSort = oneOf('PaymentSort', ['paidAt', 'recordedAt', 'amount'], 'Sort keys of payments');

@ArgsType()
export class PaymentList extends ListArgsOf(PaymentFilter, PaymentSort) {}

@ObjectType({ description: 'A page of payments' })
export class PaymentConnection extends ConnectionOf(Payment) {}

/** What is told of invoices. */
export const invoiceEvents = eventsOf('invoice', 'Invoice', [
  'created',
  'updated',
  'sent',
  'payment_recorded',
  'paid',
  'overdue',
  'voided',
]);

/** What is told of payments, which stay as they were recorded. */
export const paymentEvents = eventsOf('payment', 'Payment', ['created']);

declare module '../../kernel/events/recordEvents.js' {
  interface Events {
    invoice: typeof invoiceEvents;
    payment: typeof paymentEvents;
  }
}
