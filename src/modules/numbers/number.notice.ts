import { denied } from '../../kernel/base/errors.js';
import type { Context } from '../../kernel/context/context.js';
import type { CallbackRequest } from '../../kernel/module/module.js';

/** The form of a notice of the vendor of our numbers. Throws 403 unless the vendor signed it for this address. */
export async function genuine({ app }: Context, path: string, { body, headers, query }: CallbackRequest): Promise<Record<string, string>> {
  const form = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  const asked = new URLSearchParams(query).toString();
  const url = `${app.config.publicUrl}${path}${asked && `?${asked}`}`;
  const signature = headers['x-twilio-signature'];
  if (!(await app.vendors.sms.isGenuine(url, form, typeof signature === 'string' ? signature : undefined)))
    throw denied('The signature is not that of the vendor');
  return form;
}
