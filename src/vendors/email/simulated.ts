import { v5 } from 'uuid';
import type { Clock } from '../../kernel/base/clock.js';
import { Outbox } from '../outbox.js';
import { addressOf, type EmailVendor } from './email.js';

/** The file of a mail in the outbox: the same for the same Message-ID, a new one where it has none. */
export const fileOf = (messageId: string | undefined) => (messageId ? v5(messageId, v5.URL) : undefined);

/** Writes each message as one JSON file in place of sending it. */
export function simulatedEmail(directory: string, from: string, clock: Clock): EmailVendor {
  const outbox = new Outbox(directory, clock);
  return {
    send: async ({ within: _within, mayGo: _mayGo, ...email }) => ({
      from: addressOf(email.from ?? from),
      id: await outbox.write({ channel: 'email', from, ...email, body: email.text }, fileOf(email.messageId)),
    }),
    close: () => outbox.close(),
  };
}
