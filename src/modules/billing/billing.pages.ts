import { notFound } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import type { CallbackRequest } from '../../kernel/module/module.js';
import { htmlPage } from '../../kernel/module/page.js';
import type { RawReply } from '../../kernel/module/routes.js';
import { SimulatedPayments, type Ticket } from '../../vendors/payments/simulated.js';
import { plans } from '../plans/plan.limits.js';
import { takeNotice } from './billing.service.js';

const page = (title: string, text: string, button?: string): RawReply =>
  htmlPage(title, text, { button, note: 'Simulated payments: no money moves.' });

function simulator({ app }: Context): SimulatedPayments {
  const { payments } = app.vendors;
  if (!(payments instanceof SimulatedPayments)) throw notFound('Page');
  return payments;
}

const nameOf = ({ plan, interval }: Ticket) => `${plans[plan ?? '']?.name}, paid ${interval}`;

/** What a person sees who follows the address of a simulated checkout or portal. */
export async function showPage(ctx: Context, { query }: CallbackRequest): Promise<RawReply> {
  const ticket = simulator(ctx).read(query.page ?? '');
  if (ticket.kind === 'checkout') return page('Checkout', `Subscribe to ${nameOf(ticket)}.`, 'Pay and subscribe');
  return ticket.subscriptionId
    ? page('Your subscription', 'It is active.', 'Cancel the subscription')
    : page('Your subscription', 'There is none at the moment.');
}

/** What confirming the page does: the same as a message of a real vendor. */
export async function confirmPage(ctx: Context, { query }: CallbackRequest): Promise<RawReply> {
  const { kind } = simulator(ctx).read(query.page ?? '');
  await takeNotice(ctx, Buffer.from(query.page ?? ''), '');
  return kind === 'checkout' ? page('Thank you', 'The plan is active.') : page('Cancelled', 'The subscription has ended.');
}

const returns: Record<string, string> = {
  success: 'The payment service has taken your order. Your plan is active as soon as it has told us, which takes some seconds.',
  cancelled: 'Nothing was ordered, and your plan is what it was.',
};

/** GET /billing, where the payment service leads back to, unless a front end has a page of its own there. */
export const showReturn = async (_ctx: Context, { query }: CallbackRequest): Promise<RawReply> =>
  htmlPage(
    query.checkout === 'success' ? 'Thank you' : 'Your plan',
    `${Object.hasOwn(returns, query.checkout ?? '') ? returns[query.checkout!] : 'What you changed holds as soon as the payment service has told us.'} You can close this page.`,
  );

/** Where Stripe sends its messages. Simulated payments come by their own pages, never here. */
export async function takeStripeNotice(ctx: Context, { body, headers }: CallbackRequest): Promise<RawReply> {
  if (ctx.app.vendors.payments instanceof SimulatedPayments) throw notFound('Endpoint');
  await takeNotice(ctx, body, String(headers['stripe-signature'] ?? ''));
  return { body: { received: true } };
}
