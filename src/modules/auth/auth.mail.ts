import type { Context } from '../../kernel/context/context.js';
import type { Email } from '../../vendors/email/email.js';

const pending = new Set<Promise<unknown>>();

/**
 * Writes and sends a mail after the answer, so that its time tells nobody whether there was one to send. A fault is
 * logged; the person asks again.
 */
export function mailInBackground(ctx: Context, write: () => Promise<Email | undefined>): void {
  const sending = write()
    .then((email) => email && ctx.app.vendors.email.send(email))
    .catch((error: unknown) => ctx.app.log.error({ err: error, requestId: ctx.request.id }, 'a mail could not be sent'))
    .finally(() => pending.delete(sending));
  pending.add(sending);
}

/** Waits for the mails that are under way: before the database closes. */
export const mailsSent = () => Promise.all(pending);
