import type { Context } from '../../kernel/context/context.js';
import type { Changes } from '../../kernel/events/facts.js';
import type { DealRow } from './deal.columns.js';

/** How long after an appointment somebody may still say how it went, before it reads as missed: an hour. */
const appointmentGrace = 60 * 60 * 1000;

/** What the clock of an appointment must have been before, to have run out now. */
export const missedBefore = (now: Date) => new Date(now.getTime() - appointmentGrace);

type Clocked = { status: string; appointmentAt: Date | null };

/** The contract's missed-appointment clock: it has run out, and nobody has closed the deal. */
export const isAppointmentMissed = ({ status, appointmentAt }: Clocked, now: Date): boolean =>
  status === 'open' && appointmentAt !== null && appointmentAt.getTime() + appointmentGrace < now.getTime();

/** Tells that something happened to a deal, of itself and of its contact. */
export async function emitDeal(ctx: Context, name: string, deal: DealRow, changes?: Changes): Promise<void> {
  const record = { ...deal, appointmentMissed: isAppointmentMissed(deal, ctx.now()) };
  await ctx.emit({ name, type: 'Deal', record, changes, contactId: deal.contactId, dealId: deal.id });
}
