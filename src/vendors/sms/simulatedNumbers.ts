import type { JsonReply } from '../loopback.js';

const blank = {
  ...{ voice_url: '', voice_method: 'POST', voice_application_sid: '', trunk_sid: '' },
  ...{ status_callback: '', status_callback_method: 'POST' },
  ...{ sms_url: '', sms_method: 'POST', sms_application_sid: '' },
};
type Routing = typeof blank;

interface SimulatedNumber extends Routing {
  sid: string;
  phone_number: string;
  friendly_name: string;
  capabilities: { sms: boolean; voice: boolean };
}

/** As Twilio's are. The simulator has no second one. */
const longestPage = 1000;

/** The numbers that the simulator has for us, in Twilio's wire form: they keep where their calls and texts are routed. */
export class SimulatedNumbers {
  readonly #numbers: SimulatedNumber[] = [];
  #faults = 0;
  #before?: () => Promise<unknown>;

  /** Numbers, and where the first of them tells of texts: whoever names it as TWILIO_FROM has set it up. The others tell nobody. */
  constructor(numbers: readonly string[], smsUrl: string) {
    this.add(numbers);
    const [first] = this.#numbers;
    if (first) first.sms_url = smsUrl;
  }

  /** Has more numbers for us. */
  add(numbers: readonly string[]): void {
    for (const number of numbers) {
      const nth = this.#numbers.length;
      this.#numbers.push({
        sid: `PN${String(nth).padStart(32, '0')}`,
        phone_number: number,
        friendly_name: `Simulated line ${nth + 1}`,
        capabilities: { sms: true, voice: true },
        ...blank,
      });
    }
  }

  /** One of them. */
  find(number: string): SimulatedNumber | undefined {
    return this.#numbers.find(({ phone_number }) => phone_number === number);
  }

  /** The next requests about numbers fail. */
  fail(times: number): void {
    this.#faults = times;
  }

  /** Something is done before the next change of how calls are routed takes effect: what happens while the vendor is asked. */
  beforeRouting(work: () => Promise<unknown>): void {
    this.#before = work;
  }

  /** Lists them, shows one, or changes how its calls or texts are routed. */
  answer(path: string, query: URLSearchParams, form: string | undefined, reply: JsonReply): void {
    if (this.#faults > 0) {
      this.#faults -= 1;
      return void reply(500, { code: 20500, message: 'Failed by the simulator', status: 500 });
    }
    const [, sid] = /\/IncomingPhoneNumbers\/(\w+)\.json$/.exec(path) ?? [];
    if (!sid) {
      const wanted = query.get('PhoneNumber');
      const listed = this.#numbers.filter(({ phone_number }) => !wanted || phone_number === wanted).slice(0, longestPage);
      return void reply(200, { incoming_phone_numbers: listed, page: 0, page_size: longestPage, next_page_uri: null });
    }
    const number = this.#numbers.find((one) => one.sid === sid);
    if (!number) return void reply(404, { code: 20404, message: 'Not found', status: 404 });
    if (form === undefined) return void reply(200, number);
    const given = new URLSearchParams(form);
    const before = given.has('VoiceUrl') ? this.#before : undefined;
    if (before) this.#before = undefined;
    void (before?.() ?? Promise.resolve()).finally(() => {
      this.#route(number, given);
      reply(200, number);
    });
  }

  #route(number: SimulatedNumber, form: URLSearchParams): void {
    for (const name of Object.keys(blank) as (keyof Routing)[]) {
      const given = form.get(name.replace(/(^|_)([a-z])/g, (_match, _gap, letter: string) => letter.toUpperCase()));
      if (given === null) continue;
      number[name] = given;
      // As Twilio does: whichever of the two is set ends the other.
      if (given && name === 'trunk_sid') number.voice_application_sid = '';
      if (given && name === 'voice_application_sid') number.trunk_sid = '';
    }
  }
}
