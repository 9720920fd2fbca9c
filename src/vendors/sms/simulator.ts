import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/base/clock.js';
import type { TwilioConfig } from '../../kernel/base/config.js';
import { type JsonReply, type LoopbackExchange, LoopbackServer } from '../loopback.js';
import { Outbox } from '../outbox.js';
import { twilioLibrary } from './library.js';
import { type PlacedCall, placeCall, type Transcript } from './simulatedCalls.js';
import { SimulatedNumbers } from './simulatedNumbers.js';

/** What the simulator does with the next messages. */
export type Behaviour =
  | { kind: 'refuse'; status: number; code: number }
  /** Neither takes the message nor answers. */
  | { kind: 'hold' }
  /** Takes the message, then never answers. */
  | { kind: 'hang' }
  /** Takes the message and answers a fault of its own. */
  | { kind: 'fail'; status: number };

interface SimulatorOptions {
  outboxDir: string;
  clock: Clock;
  accountSid: string;
  authToken: string;
  /** Numbers that it has for us. */
  numbers: readonly string[];
  /** Where the server is told what comes in. */
  publicUrl: string;
}

/** What it is told over HTTP: of somebody who writes, or of a message that it has taken, by its sid or the newest to a number. */
interface Instruction {
  sid?: string;
  from?: string;
  to?: string;
  body?: string;
  optOutType?: string;
  status?: string;
  errorCode?: number;
}

/**
 * Twilio in its own wire form on the loopback: it takes messages, writes each once to the outbox, lists numbers, and does what it is
 * told to over HTTP: `POST /simulator/next` (a behaviour for the next message), `/simulator/reply` (`{ from, to?, body, optOutType? }`:
 * somebody writes to a number of ours, and whoever its `sms_url` names is told, also what Twilio took it for), `/simulator/report`
 * (`{ sid or to, status, errorCode? }`: what became of a message), `/simulator/calls` (a `PlacedCall`). The server is told with
 * Twilio's signature, and its HTTP status answered as `{ status }`. `GET /simulator/messages` shows what it has taken,
 * `GET /simulator/waiting` how many behaviours no message has met yet.
 */
export class SmsSimulator {
  readonly #outbox: Outbox;
  readonly #taken: Record<string, string>[] = [];
  readonly #next: Behaviour[] = [];
  readonly #voice: SimulatedNumbers;
  readonly #server = new LoopbackServer((exchange) => this.#answer(exchange));

  constructor(private readonly options: SimulatorOptions) {
    this.#outbox = new Outbox(options.outboxDir, options.clock);
    this.#voice = new SimulatedNumbers(options.numbers, this.#smsUrl);
  }

  /** Where it listens, and the credentials that it takes. Begins to listen when first asked. */
  async config(port = 0): Promise<TwilioConfig> {
    const { accountSid, authToken } = this.options;
    return { accountSid, authToken, apiBase: await this.#server.base(port) };
  }

  close(): void {
    this.#outbox.close();
    this.#server.close();
  }

  /** The numbers, and how they route calls. */
  get numbers(): SimulatedNumbers {
    return this.#voice;
  }

  /** Calls a number of ours, and follows what is answered to the end. */
  call(placed: PlacedCall): Promise<Transcript> {
    const { authToken, clock } = this.options;
    return placeCall(placed, { numbers: this.#voice, authToken, clock });
  }

  /** The next messages meet these behaviours, one each. */
  will(...behaviours: Behaviour[]): void {
    this.#next.push(...behaviours);
  }

  async #answer({ request, url, body, reply }: LoopbackExchange): Promise<void> {
    const { pathname: path } = url;
    if (path.startsWith('/simulator/')) return this.#told(path, body, reply);
    if (!this.#isAuthorized(request)) return reply(401, { code: 20003, message: 'Authenticate', status: 401 });
    if (path.endsWith('/Messages.json')) return this.#take(Object.fromEntries(new URLSearchParams(body)), reply);
    if (path.includes('/IncomingPhoneNumbers'))
      return this.#voice.answer(path, url.searchParams, request.method === 'POST' ? body : undefined, reply);
    reply(404, { code: 20404, message: 'Not found', status: 404 });
  }

  async #told(path: string, body: string, reply: JsonReply): Promise<void> {
    if (path === '/simulator/messages') return reply(200, this.#taken);
    if (path === '/simulator/waiting') return reply(200, { waiting: this.#next.length });
    const told = JSON.parse(body) as Instruction;
    if (path === '/simulator/next') {
      this.will(JSON.parse(body));
      return reply(200, { waiting: this.#next.length });
    }
    if (path === '/simulator/calls') return reply(200, await this.call(told as PlacedCall));
    if (path === '/simulator/reply') return this.#receive(told, reply);
    const message = this.#taken.findLast(({ sid, To }) => (told.sid ? sid === told.sid : To === told.to));
    if (path !== '/simulator/report' || !message) return reply(404, { message: 'There is no such address or message' });
    const form = { MessageSid: message.sid!, MessageStatus: told.status ?? 'delivered', To: message.To!, From: message.From! };
    const error: Record<string, string> = told.errorCode ? { ErrorCode: String(told.errorCode) } : {};
    reply(200, { status: await this.#tell(message.StatusCallback!, { ...form, ...error }) });
  }

  get #smsUrl(): string {
    return `${this.options.publicUrl}/webhooks/twilio/sms`;
  }

  /** Tells of a text where its number says, or where it is no number that it lists: the server. */
  async #receive({ from = '', to = this.options.numbers[0]!, body = '', optOutType, sid }: Instruction, reply: JsonReply): Promise<void> {
    const MessageSid = sid ?? `SM${this.options.clock.bytes(16).toString('hex')}`;
    const url = this.#voice.find(to)?.sms_url ?? this.#smsUrl;
    if (!url) return reply(404, { message: `${to} tells nobody of its texts` });
    const known: Record<string, string> = optOutType ? { OptOutType: optOutType } : {};
    reply(200, { status: await this.#tell(url, { MessageSid, From: from, To: to, Body: body, ...known }) });
  }

  /** Tells the server, signed as Twilio signs; the status of its answer. */
  async #tell(url: string, form: Record<string, string>): Promise<number> {
    const twilio = await twilioLibrary();
    const signature = twilio.getExpectedTwilioSignature(this.options.authToken, url, form);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-twilio-signature': signature };
    return (await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form).toString() })).status;
  }

  #isAuthorized({ headers }: IncomingMessage): boolean {
    const { accountSid, authToken } = this.options;
    return headers.authorization === `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`;
  }

  async #take(form: Record<string, string>, reply: JsonReply): Promise<void> {
    const behaviour = this.#next.shift();
    if (behaviour?.kind === 'refuse')
      return reply(behaviour.status, { code: behaviour.code, message: 'Refused by the simulator', status: behaviour.status });
    if (behaviour?.kind === 'hold') return;
    const sid = `SM${this.options.clock.bytes(16).toString('hex')}`;
    this.#taken.push({ sid, ...form });
    await this.#outbox.write({ channel: 'sms', from: form.From, to: form.To, body: form.Body, contentSid: form.ContentSid, sid });
    if (behaviour?.kind === 'hang') return;
    if (behaviour?.kind === 'fail') return reply(behaviour.status, { message: 'Failed by the simulator', status: behaviour.status });
    reply(201, { sid, status: 'queued', from: form.From, to: form.To, body: form.Body ?? '', error_code: null, error_message: null });
  }
}
