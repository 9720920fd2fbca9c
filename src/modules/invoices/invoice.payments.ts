import { check, conflict, invalidField } from '../../kernel/base/errors.js';
import { exact } from '../../kernel/base/money.js';
import { instantOf } from '../../kernel/base/timeZones.js';
import type { Context } from '../../kernel/context/context.js';
import { checkTrial } from '../plans/plan.limits.js';
import { mostPayments, type Payment, type RecordPaymentInput } from './invoice.model.js';
import { changesOf, getInvoice, lockInvoice, settled } from './invoice.service.js';

/** Contract GET /invoices/{id}/payments. */
export const listPayments = async (ctx: Context, id: string) => (await getInvoice(ctx, id)).payments;

/**
 * Contract POST /invoices/{id}/payments: more than nothing and at most the balance (400), neither on a void invoice nor on a
 * paid one (409). A payment that covers the total makes the invoice paid.
 */
export async function recordPayment(ctx: Context, id: string, { paidAt, ...input }: RecordPaymentInput) {
  const before = await lockInvoice(ctx, id);
  check(before.status !== 'paid' && before.status !== 'void', () => conflict(`The invoice is ${before.status}`));
  checkTrial(ctx);
  check(before.payments.length < mostPayments, () => conflict(`An invoice takes at most ${mostPayments} payments`));
  const balance = exact(before.total).minus(exact(before.amountPaid));
  check(exact(input.amount).lte(balance), () =>
    invalidField('amount', 'out_of_range', `must be at most ${balance.toFixed(2)}, the balance`),
  );
  const { method = 'other', reference = null, notes = null, amount } = input;
  const { timezone } = ctx.caller.account;
  const payment = ctx.insert('Payment', {
    ...{ invoiceId: before.id, amount, method, reference, notes },
    ...{ paidAt: paidAt ? instantOf(paidAt, timezone) : ctx.now(), recordedAt: ctx.now(), recordedBy: ctx.caller.userId },
  }) as Payment;
  const amountPaid = exact(before.amountPaid).plus(exact(amount)).toFixed(2);
  const credited = { ...ctx.update('Invoice', before, { amountPaid }), payments: [...before.payments, payment] };
  const invoice = await settled(ctx, credited, before);
  const { contactId, dealId } = invoice;
  await ctx.log({
    name: 'invoice.payment_recorded',
    type: 'Invoice',
    record: invoice,
    changes: changesOf(before, credited),
    contactId,
    dealId,
  });
  return { payment, invoice };
}
