import type { Context } from '../../kernel/context/context.js';
import { optOutAddress } from '../contacts/contact.optOut.js';
import type { MessageRow } from './message.service.js';

/** Keeps that whoever reads a mail wants no more of them: at the address that it went to, and the contact that it was for. */
export const optOutReader = (ctx: Context, { contactId, toEmail }: MessageRow): Promise<void> => optOutAddress(ctx, contactId, toEmail);
