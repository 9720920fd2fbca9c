import { relation, relationOver } from '../../kernel/tables/relation.js';
import { companyTable } from '../companies/company.table.js';
import { contactTable } from '../contacts/contact.table.js';
import { dealTable } from '../deals/deal.table.js';
import { productTable } from '../products/product.table.js';
import { userTable } from '../users/user.table.js';
import { invoiceItemTable, invoiceTable, paymentTable } from './invoice.table.js';

export const invoiceRelations = [
  ...relation(invoiceTable, 'contactId', contactTable, {
    one: { name: 'contact', description: 'The contact who is billed', record: ['id', 'firstName', 'lastName'] },
    many: { name: 'invoices', description: 'Invoices to the contact, newest first by default' },
  }),
  ...relation(invoiceTable, 'companyId', companyTable, {
    one: { name: 'company', description: 'The company that is billed; null when deleted' },
    many: { name: 'invoices', description: 'Invoices to the company, newest first by default' },
  }),
  ...relation(invoiceTable, 'dealId', dealTable, {
    one: { name: 'deal', description: 'The deal that it is about; null when deleted' },
    many: { name: 'invoices', description: 'Invoices about the deal, newest first by default' },
  }),
  ...relation(invoiceTable, 'createdBy', userTable, { one: { name: 'author', description: 'The user who made the invoice' } }),
  ...relation(invoiceItemTable, 'invoiceId', invoiceTable, {
    many: { name: 'items', description: 'What is charged', listed: { by: 't.sort_order, t.id' } },
  }),
  ...relation(invoiceItemTable, 'productId', productTable, { one: { name: 'product', description: 'The product, archived or not' } }),
  relationOver({ table: 'invoice_items', of: 'product_id', to: 'invoice_id' }, productTable, invoiceTable, {
    name: 'invoices',
    description: 'Invoices with an item that names the product, newest first by default',
  }),
  ...relation(paymentTable, 'invoiceId', invoiceTable, {
    one: { name: 'invoice', description: 'The invoice that it pays', required: true },
    many: { name: 'payments', description: 'The payments', listed: { by: 't.recorded_at, t.id' } },
  }),
  ...relation(paymentTable, 'recordedBy', userTable, { one: { name: 'recorder', description: 'The user who recorded the payment' } }),
];
