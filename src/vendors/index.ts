import type { Clock } from '../kernel/base/clock.js';
import type { Config } from '../kernel/base/config.js';
import type { Vendors } from '../kernel/context/vendors.js';
import { simulatedEmail } from './email/simulator.js';
import { smtpEmail } from './email/smtp.js';
import { SimulatedPayments } from './payments/simulator.js';
import { StripePayments } from './payments/stripe.js';

/** The vendors by configuration: live where one is configured, else its simulator. */
export function vendorsFor(config: Config & { secretKey: string }, clock: Clock): Vendors {
  return {
    email: config.smtpUrl ? smtpEmail(config.smtpUrl, config.mailFrom) : simulatedEmail(config.outboxDir, config.mailFrom, clock),
    payments: config.stripe ? new StripePayments(config.stripe) : new SimulatedPayments(config.publicUrl, config.secretKey, clock),
  };
}
