import { type Context, inLog } from '../../kernel/context/context.js';
import type { JobOptions } from '../../kernel/context/jobQueue.js';
import { type Email, MailRefused } from './email.js';

/**
 * Options of a job that sends a mail: ten more attempts, the first of them after one to two minutes, each pause twice as long as the one
 * before: about a day in all.
 */
export const mailTries: JobOptions = { retryLimit: 10, retryDelay: 60 };

/**
 * Sends the mail of a job that was added with `mailTries`. One that the mail server refuses for good is logged and is done with; throws
 * where it may take it later, so that the job is tried again.
 */
export async function mailUnlessRefused(ctx: Context, mail: Email): Promise<void> {
  try {
    await ctx.app.vendors.email.send(mail);
  } catch (error) {
    if (!(error instanceof MailRefused && error.isPermanent)) throw error;
    ctx.app.log.warn({ err: error, ...inLog(ctx.request) }, 'a mail was refused for good');
  }
}
