import type { Clock } from '../../kernel/base/clock.js';
import type { Config } from '../../kernel/base/config.js';
import { sign } from '../../kernel/base/crypto.js';
import { SmsSimulator } from './simulator.js';
import { TwilioSms } from './twilio.js';

/** The account of the simulator, as Twilio calls it by its SID. */
export const simulatedAccount = 'ACsimulator';

/** Numbers of the simulator: the range that is kept for fiction. */
export const simulatedNumbers = Array.from({ length: 100 }, (_, nth) => `+141555501${String(nth).padStart(2, '0')}`);

/** Text messages by Twilio's client, over HTTP, to a simulator in this process that begins to listen when it is first needed. */
export class SimulatedSms extends TwilioSms {
  readonly takesAnyNumber = true;

  constructor(
    readonly simulator: SmsSimulator,
    from: string,
  ) {
    super(() => simulator.config(), from);
  }

  override close(): void {
    super.close();
    this.simulator.close();
  }
}

export function simulatedSms({ outboxDir, publicUrl, secretKey, twilioFrom }: Config & { secretKey: string }, clock: Clock): SimulatedSms {
  const authToken = sign({ config: { secretKey } }, 'simulated sms', 'token');
  const simulator = new SmsSimulator({ outboxDir, clock, publicUrl, accountSid: simulatedAccount, authToken, numbers: simulatedNumbers });
  return new SimulatedSms(simulator, twilioFrom ?? simulatedNumbers[0]!);
}
