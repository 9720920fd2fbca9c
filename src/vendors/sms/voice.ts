/** How a vendor handles the calls of a number: where it asks what to do, and where it tells how they ended. */
export interface VoiceConfig {
  voiceUrl: string;
  voiceMethod: string;
  /** An application of the vendor's that handles the calls instead of `voiceUrl`. */
  voiceApplicationSid: string;
  /** A SIP trunk that takes the calls, whatever the others say. What was kept before this was read lacks it. */
  trunkSid?: string;
  statusCallback: string;
  statusCallbackMethod: string;
}

/** Somebody who is rung. */
export interface Rung {
  number: string;
  /** Where the vendor tells that they answered. */
  answeredUrl?: string;
}

/** What is done with a call, one thing after the other. */
export type Verb =
  | { kind: 'say'; text: string }
  | { kind: 'play'; url: string }
  | { kind: 'pause'; seconds: number }
  /** Takes one digit while it is said or played; without one the next verb is done. */
  | { kind: 'gather'; action: string; seconds: number; within: Verb[] }
  /** Those who are rung see `callerId`, one of our numbers; without it the number that calls. */
  | { kind: 'dial'; action: string; seconds?: number; callerId?: string; numbers: Rung[] }
  | { kind: 'record'; action: string; seconds: number }
  | { kind: 'redirect'; url: string; method?: string }
  | { kind: 'hangup' };
