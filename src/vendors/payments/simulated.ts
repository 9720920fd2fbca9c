import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../kernel/base/clock.js';
import { dayMs } from '../../kernel/base/durations.js';
import { badRequest } from '../../kernel/base/errors.js';
import { exact } from '../../kernel/base/money.js';
import type { Bill, Bought, Interval, Order, Paid, PaymentsVendor, SoldPlan, Subscription } from './payments.js';

/** What a hosted page of the simulator is about, as the token in its address says. */
export interface Ticket extends Partial<Pick<Order, 'plan' | 'interval'>> {
  id: string;
  kind: 'checkout' | 'portal';
  customerId: string;
  subscriptionId?: string | null;
  /** Milliseconds since 1970. */
  until: number;
}

export const prices: Record<SoldPlan, Record<Interval, string>> = {
  standard: { monthly: '49.00', yearly: '490.00' },
  premium: { monthly: '149.00', yearly: '1490.00' },
  enterprise: { monthly: '499.00', yearly: '4990.00' },
};
export const months: Record<Interval, number> = { monthly: 1, yearly: 12 };

/** So many months later, on the same day or the month's last. */
export function later(from: Date, count: number): Date {
  const moved = new Date(from);
  moved.setUTCMonth(from.getUTCMonth() + count);
  if (moved.getUTCDate() !== from.getUTCDate()) moved.setUTCDate(0);
  return moved;
}

/**
 * Sells without money: its hosted pages are the server's own, under /billing/simulator, and confirming one activates or ends
 * the subscription. It remembers nothing: what it must know of a page is signed into the page's address, the rest is what
 * the account keeps of any vendor.
 */
export class SimulatedPayments implements PaymentsVendor {
  constructor(
    private readonly publicUrl: string,
    private readonly secretKey: string,
    private readonly clock: Clock,
  ) {}

  customer = async ({ id }: { id: string }) => `sim_cus_${id}`;

  checkout = async ({ customerId, plan, interval }: Order) => this.#page({ kind: 'checkout', customerId, plan, interval });

  portal = async ({ customerId, subscriptionId }: { customerId: string; subscriptionId: string | null }) =>
    this.#page({ kind: 'portal', customerId, subscriptionId });

  change = async (id: string, { plan, interval }: Bought) => this.#active(id, plan, interval);

  standing = async () => null;

  subscription = async () => null;

  async bills(_customerId: string, subscription: Paid | null): Promise<Bill[]> {
    const { id, plan, interval, currentPeriodEnd } = subscription ?? {};
    if (!id || !plan || !interval || !currentPeriodEnd) return [];
    const date = later(currentPeriodEnd, -months[interval]);
    const number = `SIM-${date.toISOString().slice(0, 10)}`;
    return [
      { id: `sim_in_${id}`, number, date, amount: exact(prices[plan][interval]).toFixed(2), currency: 'USD', status: 'paid', url: null },
    ];
  }

  /** `body` is the token of a page that somebody confirmed. */
  async notice(body: Buffer) {
    const { id, kind, customerId, subscriptionId, plan, interval } = this.read(body.toString());
    if (kind === 'portal' && !subscriptionId) return null;
    const subscription: Subscription =
      kind === 'checkout'
        ? this.#active(`sim_sub_${id}`, plan!, interval!)
        : { id: subscriptionId!, status: 'cancelled', startedAt: this.clock.now(), currentPeriodEnd: this.clock.now() };
    return { id: `sim_evt_${id}`, customerId, subscription, isNews: true };
  }

  /** What a page is about. Throws 400 for a token that is not ours or too old. */
  read(token: string): Ticket {
    const [text = '', seal = ''] = token.split('.');
    const [given, due] = [Buffer.from(seal, 'base64url'), this.#seal(text)];
    if (given.length !== due.length || !timingSafeEqual(given, due)) throw badRequest('This page does not exist');
    const ticket = JSON.parse(Buffer.from(text, 'base64url').toString()) as Ticket;
    if (ticket.until < this.clock.now().getTime()) throw badRequest('This page has expired');
    return ticket;
  }

  #active(id: string, plan: SoldPlan, interval: Interval): Subscription {
    const now = this.clock.now();
    return { id, status: 'active', startedAt: now, plan, interval, currentPeriodEnd: later(now, months[interval]) };
  }

  #page(about: Omit<Ticket, 'id' | 'until'>): string {
    const ticket: Ticket = { ...about, id: this.clock.id(), until: this.clock.now().getTime() + dayMs };
    const text = Buffer.from(JSON.stringify(ticket)).toString('base64url');
    return `${this.publicUrl}/billing/simulator?page=${text}.${this.#seal(text).toString('base64url')}`;
  }

  #seal = (text: string) => createHmac('sha256', this.secretKey).update(`billing simulator ${text}`).digest();
}
