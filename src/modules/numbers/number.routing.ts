import type { Context } from '../../kernel/context/context.js';
import type { VoiceConfig } from '../../vendors/sms/voice.js';

/** Where the vendor asks about a call, and where it tells how one ended. */
export const voicePath = '/webhooks/twilio/voice';
export const voiceStatusPath = '/webhooks/twilio/voice/status';

/** How the vendor routes a number whose calls come to the service. */
export const ourConfig = ({ app: { config } }: Context): VoiceConfig => ({
  voiceUrl: `${config.publicUrl}${voicePath}`,
  voiceMethod: 'POST',
  voiceApplicationSid: '',
  trunkSid: '',
  statusCallback: `${config.publicUrl}${voiceStatusPath}`,
  statusCallbackMethod: 'POST',
});

/** Whether an application or a trunk of the vendor takes calls that are routed so: it does not look at their address. */
export const isBypassed = ({ voiceApplicationSid, trunkSid }: VoiceConfig): boolean => Boolean(voiceApplicationSid || trunkSid);

/** Whether the vendor asks the service about calls that are routed so, by whatever method. */
export const asksUs = (ctx: Context, voice: VoiceConfig): boolean => voice.voiceUrl === ourConfig(ctx).voiceUrl && !isBypassed(voice);

/** Whether calls that are routed so come to the service: it is asked by POST alone. */
export const isOurs = (ctx: Context, voice: VoiceConfig): boolean => asksUs(ctx, voice) && voice.voiceMethod === 'POST';

/** Whether nothing is to be changed for calls to come to the service, and for it to be told how they ended. */
export const isAsWired = (ctx: Context, voice: VoiceConfig): boolean =>
  Object.entries(ourConfig(ctx)).every(([name, value]) => voice[name as keyof VoiceConfig] === value);

/**
 * Whether calls that are routed so come to the service, or did before its address changed, by whatever method. No such routing is one of
 * before, which a number is given back to.
 */
export const wasOurs = (ctx: Context, voice: VoiceConfig): boolean =>
  asksUs(ctx, voice) || (voice.voiceUrl.endsWith(voicePath) && voice.statusCallback.endsWith(voiceStatusPath) && !isBypassed(voice));

/** How a number was routed before, as far as that is to somewhere else. */
export const priorOf = (ctx: Context, voice: VoiceConfig | null): VoiceConfig | null => (voice && !wasOurs(ctx, voice) ? voice : null);
