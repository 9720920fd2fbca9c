import { check, conflict, found, invalidField } from '../../kernel/base/errors.js';
import { exact, withPlainAmounts } from '../../kernel/base/money.js';
import { defined } from '../../kernel/base/objects.js';
import { dayAfter } from '../../kernel/base/timeZones.js';
import { type Context, validId } from '../../kernel/context/context.js';
import { day, listOf, type RowOf, text, uuid } from '../../kernel/database/kinds.js';
import { sql } from '../../kernel/database/sql.js';
import { statement } from '../../kernel/database/statement.js';
import { amountsShown, type Change, type Changes, changesBetween, isNothing } from '../../kernel/events/changes.js';
import { listRows } from '../../kernel/lists/list.js';
import { selectsOfNodes } from '../../kernel/model/connection.js';
import { changedReferences } from '../../kernel/operations/references.js';
import { todayOf } from '../../kernel/tables/dateRanges.js';
import { asSystem } from '../auth/auth.acting.js';
import { contactLoader } from '../contacts/contact.service.js';
import { checkTrial } from '../plans/plan.limits.js';
import type { CreateInvoiceInput, InvoiceItem, InvoiceItemFields, InvoiceList, UpdateInvoiceInput } from './invoice.model.js';
import { checkNumber, nextNumber } from './invoice.numbers.js';
import { checkLinks, links } from './invoice.references.js';
import { invoiceColumns, invoiceShape, invoiceTable, wholeInvoice } from './invoice.table.js';
import { totalsOf } from './invoice.totals.js';

/** An invoice as it is kept, with its items and payments. */
export type InvoiceRow = RowOf<typeof wholeInvoice>;

/** Contract GET /invoices: a page in one statement, exact total, items and payments included where they are asked for. */
export function listInvoices(ctx: Context, args: InvoiceList) {
  const wanted = { items: selectsOfNodes(args.selection, 'items'), payments: selectsOfNodes(args.selection, 'payments') };
  const row = { columns: invoiceColumns(sql`${todayOf(ctx)}`, wanted), row: invoiceShape(wanted) };
  return listRows<InvoiceRow>(ctx, invoiceTable, args, row);
}

const byIds = statement({
  name: 'invoicesById',
  takes: { ids: listOf(uuid), today: day },
  row: wholeInvoice,
  shared: true,
  text: ({ account, ids, today }) =>
    sql`select ${invoiceColumns(today)} from invoices t where t.account_id = ${account} and t.id = any(${ids})`,
});

/** Invoices with their items and payments by their ids. */
export const readInvoices = (ctx: Context, ids: readonly string[]) => ctx.rows(byIds, { ids, today: todayOf(ctx) });

/** One invoice with its items and payments. */
export async function getInvoice(ctx: Context, id: string): Promise<InvoiceRow> {
  const [invoice] = await readInvoices(ctx, [validId(id, 'Invoice')]);
  return found(invoice, 'Invoice');
}

const lock = statement({
  name: 'lockInvoice',
  takes: { id: uuid },
  row: { id: uuid, status: text },
  locks: true,
  text: ({ account, id }) => sql`select id, status from invoices where account_id = ${account} and id = ${id} for update`,
});

/**
 * One invoice, locked against other writers until this unit of work ends; read after that, so that nothing of it is old. What reads show
 * as overdue is written down first, so that it is told before what the caller makes of it.
 */
export async function lockInvoice(ctx: Context, id: string): Promise<InvoiceRow> {
  const { status } = found((await ctx.rows(lock, { id: validId(id, 'Invoice') }))[0], 'Invoice');
  const invoice = await getInvoice(ctx, id);
  return invoice.status === status ? invoice : becomeOverdue(ctx, invoice);
}

/** Writes down and tells that an invoice, which reads show as overdue and nobody has been told of, is so. */
export async function becomeOverdue(ctx: Context, invoice: InvoiceRow): Promise<InvoiceRow> {
  const overdue = ctx.update('Invoice', invoice, { status: 'overdue' });
  await emitOverdue(asSystem(ctx), overdue);
  return overdue;
}

/** Tells that an invoice has become overdue. */
export const emitOverdue = (ctx: Context, invoice: InvoiceRow) => emitInvoice(ctx, invoice, { ...invoice, status: 'sent' });

const daysToPay = 30;

const blank = { contactId: null, companyId: null, dealId: null, notes: null, terms: null };
const fresh = { status: 'draft' as const, amountPaid: '0.00', sentAt: null, paidAt: null, voidedAt: null };

/** Contract POST /invoices: a draft, its amounts computed; the number is the next one unless one is given. */
export async function createInvoice(ctx: Context, { items, ...input }: CreateInvoiceInput): Promise<InvoiceRow> {
  const { currency, defaultTaxRate } = ctx.caller.account;
  checkItems(items);
  const taxRate = input.taxRate ?? defaultTaxRate;
  const { amounts, ...totals } = totalsOf(items, taxRate);
  await checkLinks(ctx, input, items);
  const dueDate = input.dueDate ?? dayAfter(todayOf(ctx), daysToPay);
  if (input.invoiceNumber) await checkNumber(ctx, input.invoiceNumber);
  checkTrial(ctx);
  const invoiceNumber = input.invoiceNumber ?? (await nextNumber(ctx));
  const own = { ...blank, ...{ currency }, ...defined(input), taxRate, dueDate, invoiceNumber };
  const invoice = ctx.insert('Invoice', { ...own, ...totals, ...fresh, createdBy: ctx.caller.userId });
  const written = { ...invoice, items: insertItems(ctx, invoice.id, items, amounts), payments: [] };
  await emitInvoice(ctx, written);
  return written;
}

function checkItems(items: readonly unknown[]) {
  check(items.length > 0, () => invalidField('items', 'too_few', 'must have at least one item'));
}

const insertItems = (ctx: Context, invoiceId: string, items: InvoiceItemFields[], amounts: string[]): InvoiceItem[] =>
  items.map(({ description, quantity, unitPrice, productId = null }, i) =>
    ctx.insert('InvoiceItem', { invoiceId, description, quantity, unitPrice, productId, amount: amounts[i]!, sortOrder: i }),
  );

const tracked = [
  ...['invoiceNumber', 'contactId', 'companyId', 'dealId', 'currency', 'dueDate', 'taxRate', 'notes', 'terms', 'items'],
  ...['status', 'total', 'amountPaid'],
];

/** The fields of an item that are amounts and can be given. */
const itemAmounts = ['quantity', 'unitPrice'] as const;

/** What an invoice says in the same words however its amounts were written: exactly, as two amounts of 16 digits may be one double. */
const comparable = (invoice: InvoiceRow) => ({
  ...withPlainAmounts(invoice, ['taxRate', 'total', 'amountPaid']),
  items: invoice.items.map(({ description, quantity, unitPrice, productId }) =>
    withPlainAmounts({ description, quantity, unitPrice, productId: productId ?? null }, itemAmounts),
  ),
});

const changesOf = (before: InvoiceRow, after: InvoiceRow): Changes =>
  amountsShown(changesBetween(comparable(before), comparable(after), tracked), 'items', itemAmounts);

/** What else a change of an invoice was. */
const specificEventsOf = ({ sentAt }: InvoiceRow, before: InvoiceRow, { status, amountPaid }: Changes): Change['also'] => ({
  ...(amountPaid && { 'invoice.payment_recorded': ['amountPaid'] }),
  ...(sentAt && !before.sentAt && { 'invoice.sent': ['status'] }),
  ...(status?.to === 'overdue' && { 'invoice.overdue': ['status'] }),
  ...(status?.to === 'void' && { 'invoice.voided': ['status'] }),
  ...(status?.to === 'paid' && { 'invoice.paid': tracked }),
});

/** Tells that an invoice was made, or what changed of it. */
export async function emitInvoice(ctx: Context, invoice: InvoiceRow, before?: InvoiceRow): Promise<void> {
  const { contactId, dealId } = invoice;
  const record = { ...invoice, contact: await contactLoader(ctx).maybe(contactId) };
  if (!before) return ctx.emit({ name: 'invoice.created', record, contactId, dealId });
  const changes = changesOf(before, invoice);
  await ctx.emit({ name: 'invoice.updated', record, changes, also: specificEventsOf(invoice, before, changes), contactId, dealId });
}

/**
 * Contract PATCH /invoices/{id}: drafts only (409), whose currency stays once money was received (409); items replace all lines, and the
 * amounts are computed anew. What is wrong with the change itself (400) is told before either.
 */
export async function updateInvoice(ctx: Context, id: string, { items, ...input }: UpdateInvoiceInput): Promise<InvoiceRow> {
  if (items) checkItems(items);
  const before = await lockInvoice(ctx, id);
  const { amounts, ...totals } = totalsOf(items ?? before.items, input.taxRate ?? before.taxRate);
  // No total is right where none is taken: that is told as what it is, a 409.
  check(before.status !== 'draft' || exact(totals.total).gte(exact(before.amountPaid)), () =>
    invalidField(items ? 'items' : 'taxRate', 'out_of_range', `must not come to less than the ${before.amountPaid} paid`),
  );
  const given = defined(input);
  const wanted = { ...before, ...given, ...totals, items: (items as InvoiceItem[] | undefined) ?? before.items };
  const changes = changesOf(before, wanted);
  await checkLinks(ctx, changedReferences(links, before, given), changes.items ? items! : []);
  if (changes.invoiceNumber) await checkNumber(ctx, wanted.invoiceNumber);
  check(before.status === 'draft', () => conflict('status', `is ${before.status}: only a draft can be changed`));
  if (isNothing(changes)) return before;
  // What was received is in the currency of before.
  check(!changes.currency || exact(before.amountPaid).isZero(), () =>
    conflict('currency', `cannot be changed: ${before.amountPaid} ${before.currency} has been received`),
  );
  let lines = before.items;
  if (changes.items) {
    await ctx.db.invoiceItem.deleteMany({ where: { invoiceId: before.id } });
    lines = insertItems(ctx, before.id, items!, amounts);
  }
  const saved = markPaidIfCovered(ctx, { ...ctx.update('Invoice', before, { ...given, ...totals }), items: lines });
  await emitInvoice(ctx, saved, before);
  return saved;
}

/** When an invoice was paid that its payments cover: by the latest of them, in whatever order they were recorded; now without any. */
const paidAtOf = (ctx: Context, { payments }: InvoiceRow): Date =>
  payments.length === 0 ? ctx.now() : new Date(Math.max(...payments.map(({ paidAt }) => paidAt.getTime())));

/** An invoice whose payments cover its total is paid, one over nothing when it is sent. */
export function markPaidIfCovered(ctx: Context, invoice: InvoiceRow): InvoiceRow {
  const paid = exact(invoice.amountPaid);
  // A draft over nothing may still grow.
  if (paid.lt(exact(invoice.total)) || (paid.isZero() && invoice.status === 'draft')) return invoice;
  return ctx.update('Invoice', invoice, { status: 'paid', paidAt: paidAtOf(ctx, invoice) });
}

/**
 * Contract POST /invoices/{id}/send. Sent again it stays as it was first sent; over nothing it is paid by that; 409 when it is paid or
 * void.
 */
export async function sendInvoice(ctx: Context, id: string): Promise<InvoiceRow> {
  const before = await lockInvoice(ctx, id);
  if (before.status === 'sent' || before.status === 'overdue') return before;
  check(before.status === 'draft', () => conflict('status', `is ${before.status}`));
  const saved = markPaidIfCovered(ctx, ctx.update('Invoice', before, { status: 'sent', sentAt: ctx.now() }));
  await emitInvoice(ctx, saved, before);
  return saved;
}

/** Contract POST /invoices/{id}/void: 409 when it is paid or void, or money was received. */
export async function voidInvoice(ctx: Context, id: string): Promise<InvoiceRow> {
  const before = await lockInvoice(ctx, id);
  check(before.status !== 'paid' && before.status !== 'void', () => conflict('status', `is ${before.status}`));
  check(exact(before.amountPaid).isZero(), () => conflict('amountPaid', 'is more than 0: a payment has been received'));
  const saved = ctx.update('Invoice', before, { status: 'void', voidedAt: ctx.now() });
  await emitInvoice(ctx, saved, before);
  return saved;
}
