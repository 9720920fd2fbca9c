import { check, conflict, invalidField } from '../../kernel/base/errors.js';
import { exact } from '../../kernel/base/money.js';
import { nearestInstant } from '../../kernel/base/timeZones.js';
import type { Context } from '../../kernel/context/context.js';
import { findRow, listRows } from '../../kernel/lists/list.js';
import { checkInstant } from '../../kernel/model/checks.js';
import { checkTrial } from '../plans/plan.limits.js';
import { mostPayments, Payment, type PaymentList, type RecordPaymentInput } from './invoice.model.js';
import { emitInvoice, getInvoice, lockInvoice, markPaidIfCovered } from './invoice.service.js';
import { paymentTable } from './invoice.table.js';

/** One payment, or null. */
export const findPayment = (ctx: Context, id: string) => findRow<Payment>(ctx, paymentTable, id);

/** Payments for all invoices. */
export const listAllPayments = (ctx: Context, args: PaymentList) => listRows<Payment>(ctx, paymentTable, args);

/** Contract GET /invoices/{id}/payments. */
export const listPayments = async (ctx: Context, id: string) => (await getInvoice(ctx, id)).payments;

/**
 * Contract POST /invoices/{id}/payments: more than nothing and at most the balance (400), neither on a void invoice nor on a
 * paid one (409). A payment that covers the total makes the invoice paid.
 */
export async function recordPayment(ctx: Context, id: string, { paidAt, ...input }: RecordPaymentInput) {
  const { timezone } = ctx.caller.account;
  const given = paidAt ? checkInstant('paidAt', nearestInstant(paidAt, timezone)) : undefined;
  const before = await lockInvoice(ctx, id);
  const takesPayments = before.status !== 'paid' && before.status !== 'void';
  const balance = exact(before.total).minus(exact(before.amountPaid));
  // No amount is right where none is taken: that is told as what it is, a 409.
  check(!takesPayments || exact(input.amount).lte(balance), () =>
    invalidField('amount', 'out_of_range', `must be at most ${balance.toFixed(2)}, the balance`),
  );
  checkTrial(ctx);
  check(takesPayments, () => conflict('status', `is ${before.status}`));
  check(before.payments.length < mostPayments, () =>
    conflict('payments', `are ${mostPayments} already: an invoice takes no more`, 'too_many'),
  );
  const { id: chosen, method = 'other', reference = null, notes = null, amount } = input;
  const now = ctx.now();
  const payment = ctx.insert('Payment', {
    id: chosen,
    invoiceId: before.id,
    amount,
    method,
    reference,
    notes,
    paidAt: given ?? now,
    recordedAt: now,
    recordedBy: ctx.caller.userId,
  }) as Payment;
  const amountPaid = exact(before.amountPaid).plus(exact(amount)).toFixed(2);
  const credited = { ...ctx.update('Invoice', before, { amountPaid }), payments: [...before.payments, payment] };
  const invoice = markPaidIfCovered(ctx, credited);
  await emitInvoice(ctx, invoice, before);
  await ctx.emit({ name: 'payment.created', record: payment, contactId: invoice.contactId, dealId: invoice.dealId });
  return { payment, invoice };
}
