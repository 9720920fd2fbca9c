import type { Twilio } from 'twilio';
import type { TwilioConfig } from '../../kernel/base/config.js';
import { neverReached } from '../reached.js';
import { twilioLibrary } from './library.js';
import { mostListed, refusalOf, type Sms, SmsRefused, SmsUnconfirmed, type SmsVendor, type TextConfig, type VendorNumber } from './sms.js';
import { liveBase, TwilioHttp } from './twilioHttp.js';
import { twimlOf } from './twiml.js';
import type { Verb, VoiceConfig } from './voice.js';

/** How long Twilio may take to be connected to, and then to answer. */
const timeoutMs = 10_000;

/** A fault of Twilio's library: a reply of the API, or one of the network. */
interface Fault extends Error {
  status?: number;
  code?: number | string;
}

/** Codes by which Twilio refuses whoever asks: the token, or the account. */
const refusedCaller = new Set<unknown>([20003, 20005]);

/**
 * Codes by which it refuses a message since too much waits, or was sent, whatever the HTTP status: too much is asked at once, the sender's
 * queue is full, it sends too fast, the account has sent what it may in a day.
 */
const throttling = new Set<unknown>([20429, 21611, 14107, 63038]);

/**
 * What a fault means for the message: only what Twilio itself refused, or what never reached it, is certain not to be sent. The fault
 * itself is not handed on: it holds the request, and that the token.
 */
function meaningOf(fault: Fault): SmsRefused | SmsUnconfirmed {
  const { status, code, message } = fault;
  if (status === 429 || throttling.has(code)) return new SmsRefused('throttled', message);
  if (status && status >= 400 && status < 500) {
    const own = typeof code === 'number' ? code : undefined;
    // The message is not at fault, and whoever looks after the server will mend it.
    if (status === 401 || refusedCaller.has(own)) return new SmsRefused('unavailable', message, own);
    return new SmsRefused(refusalOf(own), message, own);
  }
  if (!status && neverReached(fault)) return new SmsRefused('unavailable', `Twilio could not be reached (${code})`);
  return new SmsUnconfirmed(status ? message : `Twilio did not answer${code ? ` (${code})` : ''}`);
}

/** A number as Twilio's library answers it. */
interface Listed extends VoiceConfig, TextConfig {
  sid: string;
  phoneNumber: string;
  friendlyName: string;
  capabilities?: { sms?: boolean; voice?: boolean };
}

const asListed = (listed: Listed): VendorNumber => ({
  id: listed.sid,
  number: listed.phoneNumber,
  label: listed.friendlyName,
  hasSms: listed.capabilities?.sms !== false,
  hasVoice: listed.capabilities?.voice !== false,
  voice: {
    ...{
      voiceUrl: listed.voiceUrl ?? '',
      voiceMethod: listed.voiceMethod || 'POST',
      voiceApplicationSid: listed.voiceApplicationSid ?? '',
      trunkSid: listed.trunkSid ?? '',
    },
    statusCallback: listed.statusCallback ?? '',
    statusCallbackMethod: listed.statusCallbackMethod || 'POST',
  },
  texts: {
    smsUrl: listed.smsUrl ?? '',
    smsMethod: listed.smsMethod || 'POST',
    smsApplicationSid: listed.smsApplicationSid ?? '',
  },
});

/** What Twilio is told of a routing: an application and a trunk end each other by themselves, and are not named beside each other. */
function routingOf({ voiceApplicationSid, trunkSid = '', ...voice }: VoiceConfig) {
  if (trunkSid) return { ...voice, trunkSid };
  return voiceApplicationSid ? { ...voice, voiceApplicationSid } : { ...voice, voiceApplicationSid, trunkSid };
}

/** Text messages by Twilio. */
export class TwilioSms implements SmsVendor {
  #client?: Promise<Twilio>;
  #http?: TwilioHttp;

  constructor(
    private readonly config: () => Promise<TwilioConfig>,
    readonly from: string | undefined,
    private readonly timeout = timeoutMs,
  ) {}

  async send({ from, to, body, contentSid, contentVariables, statusUrl }: Sms): Promise<{ id: string }> {
    const content = contentSid ? { ContentSid: contentSid, ContentVariables: JSON.stringify(contentVariables ?? {}) } : { Body: body };
    const data = { From: from, To: to, ...content, StatusCallback: statusUrl };
    // Past `messages.create`, which makes an object of some thirty members and dates of the answer.
    const asked = (sid: string) => ({ uri: `/Accounts/${sid}/Messages.json`, method: 'post', data }) as const;
    const { sid } = await this.#ask(({ api, accountSid }) => api.v2010.create(asked(accountSid)) as Promise<{ sid: string }>);
    return { id: sid };
  }

  async numbers(): Promise<VendorNumber[]> {
    const listed = await this.#ask(({ incomingPhoneNumbers }) => incomingPhoneNumbers.list({ limit: mostListed }));
    return listed.map((one) => asListed(one as unknown as Listed));
  }

  async number(number: string): Promise<VendorNumber | undefined> {
    // Twilio also finds numbers that the one is a part of.
    const listed = await this.#ask(({ incomingPhoneNumbers }) => incomingPhoneNumbers.list({ phoneNumber: number, limit: 50 }));
    const exact = listed.find(({ phoneNumber }) => phoneNumber === number);
    return exact && asListed(exact as unknown as Listed);
  }

  async route(id: string, voice: VoiceConfig): Promise<VoiceConfig> {
    return (await this.#update(id, routingOf(voice))).voice;
  }

  async routeTexts(id: string, texts: TextConfig): Promise<TextConfig> {
    return (await this.#update(id, { ...texts })).texts;
  }

  async isGenuine(url: string, form: Readonly<Record<string, string>>, signature: string | undefined): Promise<boolean> {
    if (!signature) return false;
    const [twilio, { authToken }] = await Promise.all([twilioLibrary(), this.config()]);
    return twilio.validateRequest(authToken, signature, url, { ...form });
  }

  document(verbs: readonly Verb[]): Promise<string> {
    return twimlOf(verbs);
  }

  close(): void {
    this.#http?.close();
  }

  async #update(id: string, given: Partial<VoiceConfig & TextConfig>): Promise<VendorNumber> {
    const updated = await this.#ask(({ incomingPhoneNumbers }) => incomingPhoneNumbers(id).update(given));
    return asListed(updated as unknown as Listed);
  }

  async #ask<T>(work: (client: Twilio) => Promise<T>): Promise<T> {
    const client = await this.#open();
    try {
      return await work(client);
    } catch (error) {
      throw meaningOf(error as Fault);
    }
  }

  #open(): Promise<Twilio> {
    this.#client ??= this.#made().catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #made(): Promise<Twilio> {
    const [twilio, { accountSid, authToken, apiBase = liveBase }] = await Promise.all([twilioLibrary(), this.config()]);
    this.#http = new TwilioHttp(apiBase, this.timeout);
    return twilio(accountSid, authToken, { httpClient: this.#http as never });
  }
}
