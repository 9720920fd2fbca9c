import type { Clock } from '../../kernel/base/clock.js';
import { Outbox } from '../outbox.js';
import type { EmailVendor } from './email.js';

/** Writes each message as one JSON file in place of sending it. */
export function simulatedEmail(directory: string, from: string, clock: Clock): EmailVendor {
  const outbox = new Outbox(directory, clock);
  return {
    send: async (email) => ({ id: await outbox.write({ channel: 'email', from, ...email, body: email.text }) }),
    close: () => outbox.close(),
  };
}
