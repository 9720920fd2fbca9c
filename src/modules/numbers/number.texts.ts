import { type Context, inLog } from '../../kernel/context/context.js';
import type { TextConfig, VendorNumber } from '../../vendors/sms/sms.js';

/** How the vendor routes a number whose texts come to the service. */
const ourTexts = ({ app: { config } }: Context): TextConfig => ({
  smsUrl: `${config.publicUrl}/webhooks/twilio/sms`,
  smsMethod: 'POST',
  smsApplicationSid: '',
});

/** What a number has that was bought and that nobody has set up: the vendor answers texts to it with a notice. */
const demo = /^https?:\/\/demo\.twilio\.com\//;

/** Whether the vendor tells the service of the texts to a number, by POST; null for one that takes none. */
export function textsCome(ctx: Context, { hasSms, texts }: VendorNumber): boolean | null {
  const ours = ourTexts(ctx);
  return hasSms ? Object.entries(ours).every(([name, value]) => texts[name as keyof TextConfig] === value) : null;
}

/** Whether the vendor tells no other system of texts that are routed so. */
const isFree = (ctx: Context, { smsUrl, smsApplicationSid }: TextConfig): boolean =>
  !smsApplicationSid && (!smsUrl || demo.test(smsUrl) || smsUrl === ourTexts(ctx).smsUrl);

/**
 * Has the vendor tell the service of the texts to a number that is to be claimed, unless it tells another system of them. Answers the
 * number as it is then: also where the vendor does not do it, which keeps nobody from claiming the number.
 */
export async function withTexts(ctx: Context, number: VendorNumber): Promise<VendorNumber> {
  if (textsCome(ctx, number) !== false || !isFree(ctx, number.texts)) return number;
  try {
    return { ...number, texts: await ctx.app.vendors.sms.routeTexts(number.id, ourTexts(ctx)) };
  } catch (error) {
    ctx.app.log.warn({ err: error, ...inLog(ctx.request) }, 'the vendor does not tell the service of the texts to a number');
    return number;
  }
}
