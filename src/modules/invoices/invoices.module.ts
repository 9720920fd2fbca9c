import type { Loader } from '../../kernel/loaders.js';
import { defineModule } from '../../kernel/module.js';
import { act, edit, list, make, read } from '../../kernel/rows.js';
import {
  CompanyInvoicesResolver,
  ContactInvoicesResolver,
  DealInvoicesResolver,
  InvoiceItemResolver,
  InvoiceResolver,
  PaymentResolver,
} from './invoice.resolver.js';
import { type InvoiceRow, invoicesOfCompanies, invoicesOfContacts, invoicesOfDeals } from './invoice.service.js';

declare module '../../kernel/loaders.js' {
  interface Loaders {
    invoicesOfContact: Loader<InvoiceRow[]>;
    invoicesOfCompany: Loader<InvoiceRow[]>;
    invoicesOfDeal: Loader<InvoiceRow[]>;
  }
}

export default defineModule({
  name: 'invoices',
  resolvers: [
    InvoiceResolver,
    InvoiceItemResolver,
    PaymentResolver,
    ContactInvoicesResolver,
    CompanyInvoicesResolver,
    DealInvoicesResolver,
  ],
  loaders: { invoicesOfContact: invoicesOfContacts, invoicesOfCompany: invoicesOfCompanies, invoicesOfDeal: invoicesOfDeals },
  events: ['invoice.paid'],
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
