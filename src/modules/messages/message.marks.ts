import type { Context } from '../../kernel/context/context.js';
import { changesBetween } from '../../kernel/events/changes.js';
import { optOutAddress } from '../contacts/contact.optOut.js';
import { asOfRunsBehind } from './message.causes.js';
import { emitMessage, type MessageRow, messageRows } from './message.service.js';

type Marks = Partial<Pick<MessageRow, 'openedAt' | 'clickedAt' | 'unsubscribedAt'>>;

/** Notes when something first happened with a mail; once. Programs that look at pictures and links of mails do it without their readers. */
export async function mark(inside: Context, id: string, marks: (keyof Marks)[]): Promise<MessageRow> {
  const before = await inside.forChange(messageRows, id);
  const fresh = marks.filter((name) => before[name] === null);
  if (fresh.length === 0) return before;
  const message = inside.update('Message', before, Object.fromEntries(fresh.map((name) => [name, inside.now()])) as Marks);
  const asOfRuns = await asOfRunsBehind(inside, id, { isReport: true });
  await emitMessage(asOfRuns, 'updated', message, changesBetween(before, message, fresh));
  return message;
}

/**
 * Keeps that the reader of a mail opts out of mail, by its link or by a complaint: for the address that it went to, and for the contact
 * that it was for.
 */
export async function optOutReader(inside: Context, id: string): Promise<void> {
  const { contactId, toEmail } = await mark(inside, id, ['unsubscribedAt']);
  await optOutAddress(inside, contactId, toEmail);
}
