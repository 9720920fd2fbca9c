/** The plans that are sold; a trial is not. */
export const soldPlans = ['standard', 'premium', 'enterprise'] as const;
export type SoldPlan = (typeof soldPlans)[number];
export const intervals = ['monthly', 'yearly'] as const;
export type Interval = (typeof intervals)[number];

/** What a customer pays for, as the vendor knows it. */
export interface Subscription {
  id: string;
  /** Unpaid: nobody tries to have it paid any more, or never could; it may come back. */
  status: 'active' | 'past_due' | 'unpaid' | 'cancelled';
  startedAt: Date;
  /** Undefined where the vendor charges a price that is none of ours. */
  plan?: SoldPlan;
  interval?: Interval;
  currentPeriodEnd: Date | null;
  /** When it ends, where it was cancelled with the paid time, or with another day, to come: until then it is as it was. */
  endsAt?: Date | null;
}

/** What is known of a subscription from what was told of it. */
export type Paid = Pick<Subscription, 'id' | 'plan' | 'interval' | 'currentPeriodEnd'>;

/** Something happened to a customer's subscription, and how the subscription stands since. */
export interface Notice {
  /** The vendor's id of the message: it may come several times. */
  id: string;
  customerId: string;
  subscription: Subscription;
  /** Whether nobody had to be asked how it stands: it is as it stood when the message came. */
  isNews?: boolean;
}

/** A bill for the product itself. */
export interface Bill {
  id: string;
  number: string | null;
  date: Date;
  amount: string;
  currency: string;
  status: string;
  url: string | null;
}

/** What is bought: under a key it is one order, however often it is given. */
export interface Bought {
  plan: SoldPlan;
  interval: Interval;
  key?: string;
}

export interface Order extends Bought {
  customerId: string;
  /** Where the hosted page sends the person afterwards. */
  returnUrl: string;
}

/** Every method throws vendor_unavailable (502) when the vendor does not answer as it should. */
export interface PaymentsVendor {
  /**
   * The customer for an account, made once however often this is called, with the name and the address of the last time. `before` is one
   * that the vendor has not got any more.
   */
  customer(account: { id: string; name: string; email: string }, before?: string): Promise<string>;
  /** The address of a hosted page where an order is paid; null where the vendor has not got the customer (any more). */
  checkout(order: Order): Promise<string | null>;
  /**
   * Moves a subscription to another plan or interval at once; what is left of the paid time is set off. One that was cancelled and has not
   * ended yet goes on. One that has ended stays. Throws 402 where what is to be paid for it is not: then it is as it was.
   */
  change(subscriptionId: string, bought: Bought): Promise<Subscription>;
  /** The newest subscription of a customer that is paid for, else the newest that is past due; null where the vendor knows none. */
  standing(customerId: string): Promise<Subscription | null>;
  /** How a subscription stands now; null where the vendor knows none but by its messages. */
  subscription(subscriptionId: string): Promise<Subscription | null>;
  /** The address of a hosted page where a customer manages cards and the subscription; null as of `checkout`. */
  portal(customer: { customerId: string; subscriptionId: string | null; returnUrl: string }): Promise<string | null>;
  /** The latest bills, newest first. */
  bills(customerId: string, subscription: Paid | null): Promise<Bill[]>;
  /** Reads what the vendor sent to us, null where it is of no interest. Throws 400 unless the signature proves that the vendor wrote it. */
  notice(body: Buffer, signature: string): Promise<Notice | null>;
}

declare module '../../kernel/context/vendors.js' {
  interface Vendors {
    payments: PaymentsVendor;
  }
}
