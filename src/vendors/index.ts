import type { Clock } from '../kernel/clock.js';
import type { Config } from '../kernel/config.js';
import type { Vendors } from '../kernel/vendors.js';
import { simulatedEmail } from './email/simulator.js';
import { smtpEmail } from './email/smtp.js';

/** The vendors by configuration: live where one is configured, else its simulator. */
export function vendorsFor(config: Config, clock: Clock): Vendors {
  return {
    email: config.smtpUrl ? smtpEmail(config.smtpUrl, config.mailFrom) : simulatedEmail(config.outboxDir, config.mailFrom, clock),
  };
}
