import { XMLParser } from 'fast-xml-parser';
import type { Clock } from '../../kernel/base/clock.js';
import { twilioLibrary } from './library.js';
import type { SimulatedNumbers } from './simulatedNumbers.js';

/** A call to be placed: who calls which number of ours, what they press, and who answers. */
export interface PlacedCall {
  from: string;
  to: string;
  /** What is pressed, one digit a question; "" for nothing. */
  digits?: string[];
  /** The phones that are answered; all others ring until they stop. */
  answers?: string[];
  /** Where the server listens, if not where its addresses say. */
  through?: string;
  /** The id of the call; a new one by default. */
  sid?: string;
  /** Asks for every document twice, as after a lost answer; a second answer that differs is told as `differs`. */
  twice?: boolean;
}

/** What happened with a placed call. */
export interface Transcript {
  sid: string;
  /** What the caller heard, and what was rung, in order: `{say}`, `{play}`, `{dial}`, `{press}`, `{record}`, `{end}` … */
  log: Record<string, unknown>[];
}

/** An element of a document: its name, its attributes, what is in it. */
interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: false,
});

function elementsOf(parsed: Record<string, unknown>[]): Element[] {
  return parsed.flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ':@')!;
    if (name === '#text' || name.startsWith('?')) return [];
    const inside = node[name] as Record<string, unknown>[];
    const text = inside.map((child) => child['#text'] ?? '').join('');
    return [{ name, attributes: (node[':@'] ?? {}) as Record<string, string>, children: elementsOf(inside), text }];
  });
}

/** A caller asks for no more documents than these. */
const mostDocuments = 200;

/** One call that the simulator places, and follows through the documents that it is answered with, as Twilio does. */
class Call {
  readonly log: Transcript['log'] = [];
  readonly #digits: string[];
  #documents = 0;
  #seconds = 0;
  /** The element that is done next, once it is known. */
  #next: Element[] | undefined;

  constructor(
    private readonly placed: PlacedCall & { sid: string },
    private readonly sign: (url: string, form: Record<string, string>) => Promise<string>,
  ) {
    this.#digits = [...(placed.digits ?? [])];
  }

  async follow(url: string): Promise<void> {
    await this.#ask(url, { CallStatus: 'ringing' });
    while (this.#next) {
      const elements = this.#next;
      this.#next = undefined;
      for (const element of elements) {
        if (await this.#does(element)) break;
      }
    }
    this.log.push({ end: 'completed' });
  }

  /** Tells where it is asked how the call ended. */
  async report(url: string, more: Record<string, string> = {}): Promise<number> {
    const form = { CallStatus: 'completed', CallDuration: String(this.#seconds), ...more };
    return (await this.#post(url, form)).status;
  }

  /** Does one thing; whether those after it are not done any more. */
  async #does({ name, attributes, children, text }: Element): Promise<boolean> {
    if (['Say', 'Play', 'Pause'].includes(name)) return this.#hears(name, name === 'Pause' ? attributes.length : text);
    if (name === 'Gather') return this.#presses(attributes.action!, children);
    if (name === 'Dial') return this.#rings(attributes, children);
    if (name === 'Redirect') return this.#ask(text.trim(), {});
    if (name === 'Record') {
      this.log.push({ record: Number(attributes.maxLength) });
      this.#seconds += 5;
      return this.#ask(attributes.action!, { RecordingUrl: `https://api.twilio.com/recordings/RE${this.placed.sid}`, Digits: 'hangup' });
    }
    return true;
  }

  #hears(name: string, what: string | undefined): false {
    this.log.push({ [name.toLowerCase()]: what });
    this.#seconds += name === 'Pause' ? Number(what) : 1;
    return false;
  }

  async #presses(action: string, children: Element[]): Promise<boolean> {
    for (const child of children) await this.#does(child);
    const digit = this.#digits.shift();
    if (!digit) return false;
    this.log.push({ press: digit });
    return this.#ask(action, { Digits: digit });
  }

  async #rings({ action, timeout }: Record<string, string>, children: Element[]): Promise<boolean> {
    const numbers = children.map(({ text }) => text);
    const answered = children.find(({ text }) => this.placed.answers?.includes(text));
    this.log.push({ dial: numbers, ...(timeout && { seconds: Number(timeout) }), answered: answered?.text ?? null });
    this.#seconds += answered ? 30 : Number(timeout ?? 30);
    const url = answered?.attributes.statusCallback;
    if (url)
      await this.#post(url, {
        CallSid: `CA${answered.text}`,
        ParentCallSid: this.placed.sid,
        CallStatus: 'in-progress',
        To: answered.text,
      });
    return this.#ask(action!, { DialCallStatus: answered ? 'completed' : 'no-answer' });
  }

  async #ask(url: string, form: Record<string, string>): Promise<true> {
    this.#documents += 1;
    if (this.#documents > mostDocuments) throw new Error('The call goes on for ever');
    const { status, text } = await this.#post(url, form);
    if (this.placed.twice && (await this.#post(url, form)).text !== text) this.log.push({ differs: url });
    if (status !== 200) this.log.push({ failed: status });
    else this.#next = elementsOf(parser.parse(text) as Record<string, unknown>[]).find(({ name }) => name === 'Response')?.children ?? [];
    return true;
  }

  async #post(url: string, more: Record<string, string>): Promise<{ status: number; text: string }> {
    const { sid, from, to, through } = this.placed;
    const form = { CallSid: sid, From: from, To: to, CallStatus: 'in-progress', Direction: 'inbound', ...more };
    const { origin, pathname, search } = new URL(url);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': await this.sign(url, form) };
    const body = new URLSearchParams(form).toString();
    const reply = await fetch(`${through ?? origin}${pathname}${search}`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(10_000),
    });
    return { status: reply.status, text: await reply.text() };
  }
}

/** The vendor keeps its routes; the simulator begins with none. */
const howToRoute = 'POST /api/v1/call-flows/{id}/wiring routes those of a published flow, after each start of the simulators';

/** Places a call to a number of the simulator, and tells afterwards how it ended. Throws where nobody is asked about the number's calls. */
export async function placeCall(
  placed: PlacedCall,
  { numbers, authToken, clock }: { numbers: SimulatedNumbers; authToken: string; clock: Clock },
): Promise<Transcript> {
  const twilio = await twilioLibrary();
  const number = numbers.find(placed.to);
  // A trunk takes the calls of its numbers, whatever their addresses are.
  if (!number?.voice_url || number.trunk_sid) throw new Error(`${placed.to} routes its calls nowhere: ${howToRoute}`);
  const sid = placed.sid ?? `CA${clock.bytes(16).toString('hex')}`;
  const call = new Call({ ...placed, sid }, async (url, form) => twilio.getExpectedTwilioSignature(authToken, url, form));
  await call.follow(number.voice_url);
  if (number.status_callback) {
    await call.report(number.status_callback);
    if (placed.twice) await call.report(number.status_callback);
  }
  return { sid, log: call.log };
}
