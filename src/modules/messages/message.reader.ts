import type { Context } from '../../kernel/context/context.js';
import { contactsWithEmail, optOut } from '../contacts/contact.optOut.js';
import type { MessageRow } from './message.service.js';

/**
 * Keeps that whoever reads a mail wants no more of them: the contact that it was for, and all others with the address that it went
 * to, who are the same person.
 */
export async function optOutReader(ctx: Context, { contactId, toEmail }: MessageRow): Promise<void> {
  const others = toEmail ? await contactsWithEmail(ctx, toEmail) : [];
  await optOut(ctx, [contactId, ...others], { optedOutEmail: true });
}
