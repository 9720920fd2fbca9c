import type Twilio from 'twilio';
import { twilioLibrary } from './library.js';
import type { Verb } from './voice.js';

/** What XML cannot hold, however it is written. */
const unwritable = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
/** More than anybody listens to; the vendor takes 4096. */
const longestText = 4000;

const sayable = (text: string) => [...text.replace(unwritable, ' ')].slice(0, longestText).join('');

type Response = InstanceType<typeof Twilio.twiml.VoiceResponse>;
type Speaker = Pick<Response, 'say' | 'play' | 'pause'>;

function speak(speaker: Speaker, verb: Verb): void {
  if (verb.kind === 'say') speaker.say(sayable(verb.text));
  else if (verb.kind === 'play') speaker.play(verb.url.replace(unwritable, ''));
  else if (verb.kind === 'pause') speaker.pause({ length: verb.seconds });
}

function add(response: Response, verb: Verb): void {
  switch (verb.kind) {
    case 'gather': {
      const gather = response.gather({
        input: ['dtmf'],
        numDigits: 1,
        timeout: verb.seconds,
        action: verb.action,
        method: 'POST',
        finishOnKey: '',
      });
      for (const one of verb.within) speak(gather as unknown as Speaker, one);
      return;
    }
    case 'dial': {
      const { action, seconds: timeout, callerId } = verb;
      const dial = response.dial({ action, method: 'POST', timeout, ...(callerId && { callerId }), answerOnBridge: true });
      for (const { number, answeredUrl } of verb.numbers)
        dial.number(
          answeredUrl ? { statusCallback: answeredUrl, statusCallbackEvent: ['answered'], statusCallbackMethod: 'POST' } : {},
          number,
        );
      return;
    }
    case 'record':
      response.record({ action: verb.action, method: 'POST', maxLength: verb.seconds, playBeep: true });
      return;
    case 'redirect':
      response.redirect({ method: verb.method ?? 'POST' }, verb.url);
      return;
    case 'hangup':
      response.hangup();
      return;
    default:
      speak(response, verb);
  }
}

/** What is done with a call, as the document that Twilio follows. Texts are escaped */
export async function twimlOf(verbs: readonly Verb[]): Promise<string> {
  const twilio = await twilioLibrary();
  const response = new twilio.twiml.VoiceResponse();
  for (const verb of verbs) add(response, verb);
  return response.toString();
}
