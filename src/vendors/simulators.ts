import type { Clock } from '../kernel/base/clock.js';
import type { Config, StripeConfig } from '../kernel/base/config.js';
import { SmtpSimulator } from './email/smtpSimulator.js';
import { LineSimulator } from './line/simulator.js';
import { StripeSimulator } from './payments/stripeSimulator.js';
import { simulatedAccount as accountSid, simulatedNumbers } from './sms/simulated.js';
import { SmsSimulator } from './sms/simulator.js';

/** Simulators that listen, and how a server is led to them. */
export interface Running {
  /** Environment variables of the server. */
  settings: Record<string, string>;
  /** Where each is told what to do. */
  control: Record<'mail' | 'sms' | 'line' | 'stripe', string>;
  close(): void;
}

/**
 * Begins to simulate the vendors on five ports of the loopback from VENDORS_PORT on, in their wire forms. Secrets that the
 * environment has are taken over, so that simulators which are started anew are still believed. Throws where a port is taken.
 */
export async function simulateVendors(config: Config, clock: Clock): Promise<Running> {
  const { outboxDir, publicUrl, vendorsPort } = config;
  const port = (nth: number) => (vendorsPort === 0 ? 0 : vendorsPort + nth);
  const authToken = config.twilio?.authToken ?? clock.bytes(16).toString('hex');
  const { secret, domain } = config.inboundMail ?? { secret: clock.bytes(16).toString('hex'), domain: 'in.example.com' };
  const sms = new SmsSimulator({ outboxDir, clock, accountSid, authToken, numbers: simulatedNumbers, publicUrl });
  const line = new LineSimulator(outboxDir, clock);
  const mail = new SmtpSimulator({ outboxDir, clock, inbound: { url: `${publicUrl}/webhooks/email/inbound`, secret, domain } });
  const secrets = config.stripe ?? { secretKey: 'sk_test_simulator', webhookSecret: `whsec_${clock.bytes(16).toString('hex')}` };
  const stripe = new StripeSimulator({ clock, publicUrl, ...secrets });
  const { apiBase } = await sms.config(port(0));
  const lineBase = await line.base(port(1));
  const { smtpUrl, base } = await mail.listen(port(2), port(3));
  const payments = await stripe.config(port(4));
  return {
    settings: {
      SMTP_URL: smtpUrl,
      INBOUND_MAIL_SECRET: secret,
      INBOUND_MAIL_DOMAIN: domain,
      TWILIO_ACCOUNT_SID: accountSid,
      TWILIO_AUTH_TOKEN: authToken,
      TWILIO_API_BASE: apiBase!,
      TWILIO_FROM: simulatedNumbers[0]!,
      VENDOR_LINE_URL: lineBase,
      ...stripeSettings(payments),
    },
    control: { mail: base, sms: apiBase!, line: lineBase, stripe: payments.apiBase },
    close: () => {
      for (const one of [sms, line, mail, stripe]) one.close();
    },
  };
}

/** The environment variables of Stripe, one for each price. */
function stripeSettings({ secretKey, webhookSecret, prices, apiBase }: StripeConfig & { apiBase: string }): Record<string, string> {
  const ofPrices = Object.entries(prices).map(([name, id]) => [`STRIPE_PRICE_${name.toUpperCase()}`, id]);
  return { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_BASE: apiBase, ...Object.fromEntries(ofPrices) };
}
