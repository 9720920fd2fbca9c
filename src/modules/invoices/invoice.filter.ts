import { today } from '../../kernel/base/timeZones.js';
import type { Context } from '../../kernel/context/context.js';
import { emptySql, type Sql, selectList, sql } from '../../kernel/database/sql.js';
import { since, until } from '../../kernel/lists/dateRanges.js';
import { type Conditions, conditionsOf } from '../../kernel/lists/filterSql.js';
import { byNumber, byTime, type ListSpec } from '../../kernel/lists/list.js';
import { searchPattern, wordPattern } from '../../kernel/lists/searchPatterns.js';
import type { InvoiceFilter, InvoiceSort } from './invoice.model.js';

/** Sent, due before today in workspace time, and not covered; the sweep writes down what this finds. */
const isLate = (ctx: Context): Sql =>
  sql`(t.status = 'sent' and t.amount_paid < t.total and t.due_date < ${today(ctx.caller.account.timezone, ctx.now())}::date)`;

const stored = selectList('Invoice', 't', ['status', 'dueDate']);

const items = sql`, coalesce((
  select json_agg(json_build_object('id', i.id, 'productId', i.product_id, 'description', i.description,
    'quantity', i.quantity::text, 'unitPrice', i.unit_price::text, 'amount', i.amount::text) order by i.sort_order, i.id)
  from invoice_items i where i.account_id = t.account_id and i.invoice_id = t.id), '[]') as items`;

const payments = sql`, coalesce((
  select json_agg(json_build_object('id', y.id, 'invoiceId', y.invoice_id, 'amount', y.amount::text, 'method', y.method,
    'reference', y.reference, 'notes', y.notes, 'paidAt', y.paid_at, 'recordedAt', y.recorded_at, 'recordedBy', y.recorded_by)
    order by y.recorded_at, y.id)
  from payments y where y.account_id = t.account_id and y.invoice_id = t.id), '[]') as payments`;

/** The columns of an invoice's record over the alias `t`, with its items and payments where they are wanted. */
export const invoiceColumns = (ctx: Context, wanted = { items: true, payments: true }): Sql =>
  sql`${stored}, case when ${isLate(ctx)} then 'overdue' else t.status end as status, t.due_date::text as "dueDate"
    ${wanted.items ? items : emptySql} ${wanted.payments ? payments : emptySql}`;

export const invoiceListing = (columns: Sql): ListSpec<keyof typeof InvoiceSort> => ({
  table: 'invoices',
  columns,
  live: sql`true`,
  sorts: {
    createdAt: byTime('created_at'),
    updatedAt: byTime('updated_at'),
    dueDate: { by: 't.due_date', type: 'date' },
    total: byNumber('total', 'numeric'),
  },
  byDefault: ['createdAt', 'desc'],
});

const conditions: Conditions<InvoiceFilter> = {
  search: (text) => sql`((' ' || lower(t.invoice_number)) like ${wordPattern(text)} or t.contact_id in (
    select c.id from contacts c
    where c.account_id = t.account_id and c.deleted_at is null and c.search_text like ${searchPattern(text)}))`,
  status: (status, ctx) => {
    if (status === 'overdue') return sql`(t.status = 'overdue' or ${isLate(ctx)})`;
    return status === 'sent' ? sql`(t.status = 'sent' and not ${isLate(ctx)})` : sql`t.status = ${status}`;
  },
  contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  companyId: (id) => sql`t.company_id = ${id}::uuid`,
  dealId: (id) => sql`t.deal_id = ${id}::uuid`,
  dateFrom: (moment, ctx) => since('t.created_at', moment, ctx),
  dateTo: (moment, ctx) => until('t.created_at', moment, ctx),
};

/** An invoice filter as SQL conditions over the alias `t`. */
export const invoiceConditions = (ctx: Context, filter: InvoiceFilter | null | undefined): Sql[] => conditionsOf(conditions, ctx, filter);
