import { mayRead } from '../../kernel/access/access.js';
import type { Context } from '../../kernel/context/context.js';
import { nullable, records, type Shape, uuid } from '../../kernel/database/kinds.js';
import { emptySql, type Sql, sql } from '../../kernel/database/sql.js';
import { since, todayOf, until } from '../../kernel/tables/dateRanges.js';
import { byNumber, byTime, table } from '../../kernel/tables/index.js';
import { modelRow, selectList } from '../../kernel/tables/modelRow.js';
import type { ParameterConditions } from '../../kernel/tables/parameterConditions.js';
import { inAnyWay } from '../../kernel/tables/rowCondition.js';
import { holdsTerm, matches, words } from '../../kernel/tables/searchPatterns.js';
import {
  Invoice,
  InvoiceConnection,
  type InvoiceFilter,
  InvoiceItem,
  InvoiceList,
  Payment,
  PaymentConnection,
  PaymentList,
} from './invoice.model.js';

/** Sent, due before the day `today`, and not covered, over the alias `t`. */
export const isLate = (today: Sql): Sql => sql`(t.status = 'sent' and t.amount_paid < t.total and t.due_date < ${today})`;

const row = modelRow('Invoice', Invoice, { createdBy: nullable(uuid) });
const { status: _status, ...stored } = row.shape;
const itemRow = modelRow('InvoiceItem', InvoiceItem);
const paymentRow = modelRow('Payment', Payment);

/** An invoice with its items and payments. */
export const wholeInvoice = { ...row.shape, items: records(itemRow.shape), payments: records(paymentRow.shape) };

const items = sql`, coalesce((select json_agg(o.*) from (
    select ${itemRow.columns('i')} from invoice_items i
    where i.account_id = t.account_id and i.invoice_id = t.id order by i.sort_order, i.id) o), '[]') as items`;

const payments = sql`, coalesce((select json_agg(o.*) from (
    select ${paymentRow.columns('y')} from payments y
    where y.account_id = t.account_id and y.invoice_id = t.id order by y.recorded_at, y.id) o), '[]') as payments`;

interface Wanted {
  items: boolean;
  payments: boolean;
}
const all: Wanted = { items: true, payments: true };

/** The columns of an invoice over the alias `t`, with its items and payments where they are wanted. `today` is the day in the workspace. */
export const invoiceColumns = (today: Sql, wanted = all): Sql =>
  sql`${selectList(stored, 't')}, case when ${isLate(sql`${today}::date`)} then 'overdue' else t.status end as status
    ${wanted.items ? items : emptySql} ${wanted.payments ? payments : emptySql}`;

/** What these columns are. */
export const invoiceShape = (wanted = all): Shape => ({
  ...row.shape,
  ...(wanted.items && { items: wholeInvoice.items }),
  ...(wanted.payments && { payments: wholeInvoice.payments }),
});

/** By its number or its contact: of that by the names alone, which are read with an invoice, where the caller must not read contacts. */
function found(text: string, ctx: Context): Sql {
  const account = sql`${ctx.caller.account.id}::uuid`;
  const names = holdsTerm(words("concat_ws(' ', c.first_name, c.last_name)"), text);
  const contacts = sql`select c.id from contacts c where c.account_id = ${account} and c.deleted_at is null
    and ${matches(sql`c.search_text`, text, ctx)} ${mayRead(ctx.caller, 'contacts') ? emptySql : sql`and ${names}`}`;
  return inAnyWay('invoices', sql`t.account_id = ${account}`, [
    holdsTerm(words('t.invoice_number'), text),
    sql`t.contact_id = any(array(${contacts}))`,
  ]);
}

const conditions: ParameterConditions<InvoiceFilter> = {
  search: found,
  status: (status, ctx) => {
    if (status === 'overdue')
      return sql`(t.status in ('overdue', 'sent') and (t.status = 'overdue' or ${isLate(sql`${todayOf(ctx)}::date`)}))`;
    return status === 'sent' ? sql`(t.status = 'sent' and not ${isLate(sql`${todayOf(ctx)}::date`)})` : sql`t.status = ${status}`;
  },
  contactId: (id) => sql`t.contact_id = ${id}::uuid`,
  companyId: (id) => sql`t.company_id = ${id}::uuid`,
  dealId: (id) => sql`t.deal_id = ${id}::uuid`,
  dateFrom: (moment, ctx) => since('t.created_at', moment, ctx),
  dateTo: (moment, ctx) => until('t.created_at', moment, ctx),
};

export const invoiceTable = table({
  row,
  list: InvoiceList,
  page: InvoiceConnection,
  computed: { status: (ctx) => sql`case when ${isLate(sql`${todayOf(ctx)}::date`)} then 'overdue' else t.status end` },
  carried: ['status'],
  toldBy: {
    ...{ sentAt: 'status', paidAt: 'status', voidedAt: 'status', subtotal: 'items', taxAmount: 'total', payments: 'amountPaid' },
    // Lines are made anew with every change of theirs, and told by what can be given.
    ...{ 'items.id': 'items', 'items.amount': 'items' },
  },
  sorts: {
    createdAt: byTime('created_at'),
    updatedAt: byTime('updated_at'),
    dueDate: { by: 't.due_date', type: 'date' },
    total: byNumber('total', 'numeric'),
  },
  byDefault: ['createdAt', 'desc'],
  conditions,
});

export const invoiceItemTable = table({ row: itemRow, sorts: { sortOrder: byNumber('sort_order') }, byDefault: ['sortOrder', 'asc'] });

export const paymentTable = table({
  row: paymentRow,
  list: PaymentList,
  page: PaymentConnection,
  counted: false,
  computed: {
    currency: {
      sql: sql`(select i.currency from invoices i where i.account_id = t.account_id and i.id = t.invoice_id)`,
      type: () => String,
      description: 'ISO 4217 code: that of the invoice',
    },
  },
  sorts: { paidAt: byTime('paid_at'), recordedAt: byTime('recorded_at'), amount: byNumber('amount', 'numeric') },
  byDefault: ['paidAt', 'desc'],
  conditions: {
    invoiceId: (id) => sql`t.invoice_id = ${id}::uuid`,
    method: (method) => sql`t.method = ${method}`,
    dateFrom: (moment, ctx) => since('t.paid_at', moment, ctx),
    dateTo: (moment, ctx) => until('t.paid_at', moment, ctx),
  },
});
