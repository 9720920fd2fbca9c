import type { Context } from '../../kernel/context/context.js';
import type { DueRow } from '../../kernel/context/registry.js';
import { messageToSend, type Sending, settle } from './message.due.js';
import { deliverEmail } from './message.email.js';
import { deliverSms } from './message.sms.attempt.js';

/** Sends a message that was taken, or settles it by what is noted of it. */
export const deliverTaken = (ctx: Context, message: Sending): Promise<unknown> =>
  (message.channel === 'sms' ? deliverSms : deliverEmail)(ctx, message);

/** Sends a message that has come due. */
export async function deliver(ctx: Context, row: DueRow): Promise<void> {
  const message = await messageToSend(ctx, row.id, row.attempt);
  if (message) await deliverTaken(ctx, message);
}

/**
 * Gives up a message during whose sending several processes have died. A text message that was being sent may have gone, so its outcome
 * stays unknown. Any other has failed.
 */
export async function giveUp(ctx: Context, row: DueRow): Promise<void> {
  const message = await messageToSend(ctx, row.id, row.attempt);
  if (!message) return;
  await settle(ctx, message, message.status === 'sending' ? { kind: 'unconfirmed' } : { kind: 'failed', error: 'interrupted' });
}
