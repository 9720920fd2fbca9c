import { limitAddress } from '../../kernel/access/rateLimits.js';
import { type AppError, denied } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import type { CallbackRequest } from '../../kernel/module/module.js';

/** Bytes of a notice, and parameters of it: the vendor sends some dozens. */
export const mostBytes = 64 * 1024;
const mostParameters = 100;

/** Whether a form has more parameters than the vendor sends: each would be sorted and signed. */
function hasTooMany(form: Buffer): boolean {
  let count = 1;
  for (let at = form.indexOf('&'); at >= 0; at = form.indexOf('&', at + 1)) if (++count > mostParameters) return true;
  return false;
}

/**
 * The form of a notice of the vendor of our numbers. Throws 403 unless the vendor signed it for this address, and 429 once more of an
 * address were refused than it has requests: those that are signed are never limited.
 */
export async function genuine(ctx: Context, path: string, { body, headers, query }: CallbackRequest): Promise<Record<string, string>> {
  const { app } = ctx;
  if (hasTooMany(body)) throw await refused(ctx);
  const form = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  const asked = new URLSearchParams(query).toString();
  const url = `${app.config.publicUrl}${path}${asked && `?${asked}`}`;
  const signature = headers['x-twilio-signature'];
  if (!(await app.vendors.sms.isGenuine(url, form, typeof signature === 'string' ? signature : undefined))) throw await refused(ctx);
  return form;
}

/** Counted apart from the other requests of the address. */
async function refused({ app, request }: Context): Promise<AppError> {
  await limitAddress(app.limiter, 'notice', request.ip);
  return denied('The signature is not that of the vendor');
}
