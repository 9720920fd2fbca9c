import type { Loose } from './client.js';
import { messagesLeft, type Outbox } from './outbox.js';

/** The text messages that the simulator has taken for a number, the oldest first. */
export const messagesTo = (outbox: Outbox, number: string): Loose[] =>
  messagesLeft(outbox).filter(({ channel, to }) => channel === 'sms' && to === number);
