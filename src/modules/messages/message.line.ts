import { limited, type Spent } from '../../kernel/access/rateLimits.js';
import { secondMs } from '../../kernel/base/durations.js';
import type { Context } from '../../kernel/context/context.js';
import { LineRefused, LineUnconfirmed } from '../../vendors/line/line.js';
import { budgetOf, findConnection, keyOf } from '../vendorLine/vendorLine.service.js';
import { type Outcome, pauseAfter, type Sending } from './message.due.js';

/** A request of the budget, which is spent; `again` says when one may be made where this one may not. */
export async function reserve(ctx: Context, budget: string): Promise<{ spent: Spent; again?: Date }> {
  const spent = await ctx.app.limiter.spend('vendorLine', budget);
  return { spent, again: spent.refused ? new Date(ctx.now().getTime() + limited(spent).retryAfter! * secondMs) : undefined };
}

/**
 * Hands a message over to the vendor of lines: one request of the key's budget is reserved first. The operation key is the message's
 * id, so that a message of which nobody knows whether it was taken (`mayBeSent`) is handed over again, and still sent once. What says
 * nothing of the attempts before, such as a pace that was exceeded, leaves it unknown.
 */
export async function sentByLine(ctx: Context, message: Sending, mayBeSent: boolean): Promise<Outcome> {
  const later = (error: string, at: Date): Outcome => (mayBeSent ? { kind: 'unconfirmed', at } : { kind: 'later', error, at });
  const failed = (error: string): Outcome => (mayBeSent ? { kind: 'unconfirmed' } : { kind: 'failed', error });
  const connection = await findConnection(ctx);
  if (!connection) return failed('vendor_line_not_configured');
  const key = keyOf(ctx, connection);
  const { spent, again } = await reserve(ctx, budgetOf(ctx, key));
  if (again) return later('throttled', again);
  const soon = (least = 0) => new Date(ctx.now().getTime() + Math.max(pauseAfter(message.tries), least * secondMs));
  const { id: operationKey, lineId, toNumber, body } = message;
  try {
    const { id } = await ctx.app.vendors.line.send(key, { operationKey, lineId: lineId!, to: toNumber!, body });
    return { kind: 'sent', provider: 'vendor_line', providerId: id };
  } catch (error) {
    if (error instanceof LineUnconfirmed) return { kind: 'unconfirmed', at: soon() };
    if (!(error instanceof LineRefused)) throw error;
    const { reason, retryAfter } = error;
    // It was not made.
    if (reason === 'unavailable') await ctx.app.limiter.giveBack(spent);
    if (reason === 'unavailable' || reason === 'throttled') return later(reason, soon(retryAfter));
    // The key or the line is another than the one that an earlier attempt was made with.
    return reason === 'key_rejected' || reason === 'line_not_found' ? failed(reason) : { kind: 'failed', error: reason };
  }
}
