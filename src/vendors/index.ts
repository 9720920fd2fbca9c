import type { Clock } from '../kernel/base/clock.js';
import type { Config } from '../kernel/base/config.js';
import type { Vendors } from '../kernel/context/vendors.js';
import { simulatedEmail } from './email/simulated.js';
import { smtpEmail } from './email/smtp.js';
import { HttpLines } from './line/client.js';
import { simulatedLines } from './line/simulated.js';
import { SimulatedPayments } from './payments/simulated.js';
import { StripePayments } from './payments/stripe.js';
import { simulatedSms } from './sms/simulated.js';
import { TwilioSms } from './sms/twilio.js';

type Settings = Config & { secretKey: string };

/** How a vendor comes to be. */
interface Maker<V> {
  /** The setting that puts the live vendor in the place of its simulator. */
  setting: string;
  /** Makes the live vendor, where it is configured. */
  live(config: Config): (() => V) | undefined;
  simulator(config: Settings, clock: Clock): V;
}

const makers: { [Name in keyof Vendors]: Maker<Vendors[Name]> } = {
  email: {
    setting: 'SMTP_URL',
    live: ({ smtpUrl, mailFrom }) => (smtpUrl === undefined ? undefined : () => smtpEmail(smtpUrl, mailFrom)),
    simulator: ({ outboxDir, mailFrom }, clock) => simulatedEmail(outboxDir, mailFrom, clock),
  },
  sms: {
    setting: 'TWILIO_ACCOUNT_SID',
    live: ({ twilio, twilioFrom }) => twilio && (() => new TwilioSms(async () => twilio, twilioFrom)),
    simulator: (config, clock) => simulatedSms(config, clock),
  },
  line: {
    setting: 'VENDOR_LINE_URL',
    live: ({ vendorLineUrl }) => (vendorLineUrl === undefined ? undefined : () => new HttpLines(async () => vendorLineUrl)),
    simulator: (config, clock) => simulatedLines(config, clock),
  },
  payments: {
    setting: 'STRIPE_SECRET_KEY',
    live: ({ stripe }) => stripe && (() => new StripePayments(stripe)),
    simulator: ({ publicUrl, secretKey }, clock) => new SimulatedPayments(publicUrl, secretKey, clock),
  },
};

const all = Object.entries(makers as Record<string, Maker<unknown>>);

/** The vendors by configuration: live where one is configured, else its simulator. */
export function vendorsFor(config: Settings, clock: Clock): Vendors {
  const made = all.map(([name, { live, simulator }]) => [name, live(config)?.() ?? simulator(config, clock)]);
  return Object.fromEntries(made) as Vendors;
}

/** The names of the vendors that are simulated. Throws where REQUIRE_LIVE_VENDORS allows none. */
export function simulatedVendors(config: Config): string[] {
  const simulated = all.filter(([, { live }]) => !live(config));
  if (config.requireLiveVendors && simulated.length > 0) {
    const lacking = simulated.map(([name, { setting }]) => `${name} is simulated as long as ${setting} is not set`);
    throw new Error(`Configuration: REQUIRE_LIVE_VENDORS: ${lacking.join('; ')}`);
  }
  return simulated.map(([name]) => name);
}
