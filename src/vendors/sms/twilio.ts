import type { Twilio } from 'twilio';
import type { TwilioConfig } from '../../kernel/base/config.js';
import { refusalOf, type Sms, SmsRefused, SmsUnconfirmed, type SmsVendor, type VendorNumber } from './sms.js';
import { twimlOf } from './twiml.js';
import type { Verb, VoiceConfig } from './voice.js';

const timeout = 10_000;
const liveBase = 'https://api.twilio.com';

/** A fault of Twilio's library: a reply of the API, or one of the network. */
interface Fault extends Error {
  status?: number;
  code?: number | string;
}

/** Faults of the network before anything was sent. */
const notReached = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN']);

/** What a fault means for the message: only what Twilio itself refused, or what never reached it, is certain not to be sent. */
function meaningOf({ status, code, message }: Fault): SmsRefused | SmsUnconfirmed {
  if (status === 429) return new SmsRefused('throttled', message);
  if (status && status >= 400 && status < 500) {
    const own = typeof code === 'number' ? code : undefined;
    return new SmsRefused(refusalOf(own), message, own);
  }
  return notReached.has(String(code)) ? new SmsRefused('unavailable', message) : new SmsUnconfirmed(message);
}

/** A number as Twilio's library answers it. */
interface Listed extends VoiceConfig {
  sid: string;
  phoneNumber: string;
  friendlyName: string;
  capabilities?: { voice?: boolean };
}

const asListed = (listed: Listed): VendorNumber => ({
  ...{ id: listed.sid, number: listed.phoneNumber, label: listed.friendlyName, hasVoice: listed.capabilities?.voice !== false },
  voice: {
    ...{
      voiceUrl: listed.voiceUrl ?? '',
      voiceMethod: listed.voiceMethod || 'POST',
      voiceApplicationSid: listed.voiceApplicationSid ?? '',
    },
    ...{ statusCallback: listed.statusCallback ?? '', statusCallbackMethod: listed.statusCallbackMethod || 'POST' },
  },
});

/** Text messages by Twilio. Its library is loaded when it is first needed. */
export class TwilioSms implements SmsVendor {
  #client?: Promise<Twilio>;

  constructor(
    private readonly config: () => Promise<TwilioConfig>,
    readonly from: string | undefined,
  ) {}

  async send({ from, to, body, contentSid, contentVariables, statusUrl }: Sms): Promise<{ id: string }> {
    const client = await this.#open();
    const content = contentSid ? { contentSid, contentVariables: JSON.stringify(contentVariables ?? {}) } : { body };
    try {
      const { sid } = await client.messages.create({ from, to, ...content, statusCallback: statusUrl });
      return { id: sid };
    } catch (error) {
      throw meaningOf(error as Fault);
    }
  }

  async numbers(): Promise<VendorNumber[]> {
    const client = await this.#open();
    return (await client.incomingPhoneNumbers.list({ limit: 1000 })).map((one) => asListed(one as unknown as Listed));
  }

  async number(number: string): Promise<VendorNumber | undefined> {
    const client = await this.#open();
    // Twilio also finds numbers that the one is a part of.
    const listed = await client.incomingPhoneNumbers.list({ phoneNumber: number, limit: 50 });
    const exact = listed.find(({ phoneNumber }) => phoneNumber === number);
    return exact && asListed(exact as unknown as Listed);
  }

  async route(id: string, voice: VoiceConfig): Promise<VoiceConfig> {
    const client = await this.#open();
    return asListed((await client.incomingPhoneNumbers(id).update({ ...voice })) as unknown as Listed).voice;
  }

  async isGenuine(url: string, form: Readonly<Record<string, string>>, signature: string | undefined): Promise<boolean> {
    if (!signature) return false;
    const [{ default: twilio }, { authToken }] = await Promise.all([import('twilio'), this.config()]);
    return twilio.validateRequest(authToken, signature, url, { ...form });
  }

  document(verbs: readonly Verb[]): Promise<string> {
    return twimlOf(verbs);
  }

  close(): void {}

  #open(): Promise<Twilio> {
    this.#client ??= this.#made().catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #made(): Promise<Twilio> {
    const [{ default: twilio }, { accountSid, authToken, apiBase = liveBase }] = await Promise.all([import('twilio'), this.config()]);
    class AtBase extends twilio.RequestClient {
      override request(options: never): never {
        const { uri } = options as { uri: string };
        return super.request({ ...(options as object), uri: uri.replace(liveBase, apiBase) } as never) as never;
      }
    }
    return twilio(accountSid, authToken, { httpClient: new AtBase({ timeout }) as never });
  }
}
