import { hourMs } from '../../kernel/base/durations.js';

/** How long after an appointment somebody may still say how it went, before it reads as missed: an hour. */
const appointmentGrace = hourMs;

/** What the clock of an appointment must have been before, to have run out now. */
export const missedBefore = (now: Date) => new Date(now.getTime() - appointmentGrace);

type Clocked = { status: string; appointmentAt: Date | null };

/** The contract's missed-appointment clock: it has run out, and nobody has closed the deal. */
export const isAppointmentMissed = ({ status, appointmentAt }: Clocked, now: Date): boolean =>
  status === 'open' && appointmentAt !== null && appointmentAt.getTime() + appointmentGrace < now.getTime();
