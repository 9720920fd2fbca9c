import type { Context } from '../../kernel/context/context.js';
import type { Changes } from '../../kernel/events/facts.js';
import { isAppointmentMissed } from './deal.clock.js';
import type { DealRow } from './deal.table.js';

/** Tells that something happened to a deal, of itself and of its contact. */
export async function emitDeal(ctx: Context, name: string, deal: DealRow, changes?: Changes): Promise<void> {
  const record = { ...deal, appointmentMissed: isAppointmentMissed(deal, ctx.now()) };
  await ctx.emit({ name, type: 'Deal', record, changes, contactId: deal.contactId, dealId: deal.id });
}
