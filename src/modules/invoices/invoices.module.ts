import { recordFeed } from '../../kernel/feed/recordFeed.js';
import { defineModule } from '../../kernel/module/module.js';
import { act, edit, list, make, read } from '../../kernel/module/routes.js';
import { Invoice, invoiceEvents, Payment, paymentEvents } from './invoice.model.js';
import { overdueSweep } from './invoice.overdue.js';
import { findPayment } from './invoice.payments.js';
import { onContactDeleted } from './invoice.reactions.js';
import { invoiceRelations } from './invoice.relations.js';
import { InvoiceResolver } from './invoice.resolver.js';
import { getInvoice } from './invoice.service.js';
import { invoiceItemTable, invoiceTable, paymentTable } from './invoice.table.js';

export default defineModule({
  name: 'invoices',
  about: 'Invoices with their lines and payments',
  sweeps: { overdueInvoices: overdueSweep },
  tables: [invoiceTable, invoiceItemTable, paymentTable],
  relations: invoiceRelations,
  resolvers: [InvoiceResolver],
  events: [
    recordFeed(invoiceEvents, {
      record: () => Invoice,
      find: getInvoice,
      by: {
        contactId: 'Only invoices to this contact',
        companyId: 'Only invoices to this company',
        dealId: 'Only invoices of this deal',
      },
      access: { scope: 'invoices' },
    }),
    recordFeed(paymentEvents, {
      record: () => Payment,
      find: findPayment,
      by: { invoiceId: 'Only payments of this invoice' },
      access: { scope: 'invoices' },
    }),
  ],
  on: { 'contact.deleted': onContactDeleted },
  routes: [
    list('GET /invoices', 'invoices', { as: 'page' }),
    make('POST /invoices', 'createInvoice', { also: [402] }),
    read('GET /invoices/{id}', 'invoice'),
    edit('PATCH /invoices/{id}', 'updateInvoice', { also: [409] }),
    act('POST /invoices/{id}/send', 'sendInvoice', { select: '{ id invoiceNumber status sentAt }', also: [409] }),
    act('POST /invoices/{id}/void', 'voidInvoice', { also: [409] }),
    read('GET /invoices/{id}/payments', 'invoicePayments', { as: 'bare' }),
    make('POST /invoices/{id}/payments', 'recordInvoicePayment', { as: 'beside', data: 'payment', also: [402, 409] }),
  ],
});
