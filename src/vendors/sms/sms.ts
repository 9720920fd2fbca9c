import type { Verb, VoiceConfig } from './voice.js';

/** One text message to one number. */
export interface Sms {
  from: string;
  to: string;
  body: string;
  /** Of a chat app: the template that its vendor has approved, and its values. */
  contentSid?: string;
  contentVariables?: object;
  /** Where the vendor reports what becomes of it. */
  statusUrl: string;
}

/** How a vendor handles the texts to a number: where it tells of them. */
export interface TextConfig {
  smsUrl: string;
  smsMethod: string;
  /** An application of the vendor's that handles them instead of `smsUrl`. */
  smsApplicationSid: string;
}

/** A number of ours, as the vendor lists it. */
export interface VendorNumber {
  /** Its id at the vendor. */
  id: string;
  number: string;
  label: string;
  hasSms: boolean;
  hasVoice: boolean;
  /** How it handles calls. */
  voice: VoiceConfig;
  /** How it handles texts. */
  texts: TextConfig;
}

/** The most numbers of a list of a vendor. */
export const mostListed = 1000;

export interface SmsVendor {
  /** The number of those who have none of their own. */
  readonly from: string | undefined;
  /** Whether it sends from any number, and not only from those that it has for us: a simulator. */
  readonly takesAnyNumber?: boolean;
  /** Hands the message over; the id under which the vendor knows it. Throws `SmsRefused` or `SmsUnconfirmed`. */
  send(sms: Sms): Promise<{ id: string }>;
  /** The numbers that the vendor has for us, at most `mostListed`. */
  numbers(): Promise<VendorNumber[]>;
  /** One of them; undefined where the vendor has it not for us. */
  number(number: string): Promise<VendorNumber | undefined>;
  /** Has the vendor handle the calls of a number in this way. Answers how it handles them afterwards. */
  route(id: string, voice: VoiceConfig): Promise<VoiceConfig>;
  /** Has the vendor handle the texts to a number in this way. Answers how it handles them afterwards. */
  routeTexts(id: string, texts: TextConfig): Promise<TextConfig>;
  /** What is done with a call, as the document that the vendor follows. */
  document(verbs: readonly Verb[]): Promise<string>;
  /** Whether a notice is the vendor's: its signature covers the address that it was sent to, and the form. */
  isGenuine(url: string, form: Readonly<Record<string, string>>, signature: string | undefined): Promise<boolean>;
  close(): void;
}

/** Why a vendor did not take a message. */
export type SmsRefusal = 'recipient_opted_out' | 'landline' | 'throttled' | 'unavailable' | 'refused';

/** The vendor did not take the message: nothing was sent. */
export class SmsRefused extends Error {
  constructor(
    readonly reason: SmsRefusal,
    message: string,
    /** The vendor's own code. */
    readonly code?: number,
  ) {
    super(message);
  }

  /** Whether it may be taken later. */
  get mayPass(): boolean {
    return this.reason === 'throttled' || this.reason === 'unavailable';
  }
}

/** Nobody knows whether the vendor took the message: the line was cut, or it failed while it was asked. */
export class SmsUnconfirmed extends Error {}

/** What a code of the vendor, on refusing or reporting, says of the recipient. */
export function refusalOf(code: number | undefined): SmsRefusal {
  if (code === 21610) return 'recipient_opted_out';
  return code === 21614 || code === 30006 ? 'landline' : 'refused';
}

declare module '../../kernel/context/vendors.js' {
  interface Vendors {
    sms: SmsVendor;
  }
}
