import { type Account, account, send } from './client.js';
import type { Running } from './process.js';
import { type Sink, webhooksOf, workflowOf } from './react.parts.js';
import { median } from './report.js';

/* Contacts that are created a second by an account that has 20 webhooks and 20 workflows for them, against one that has none. */

const { REACT_SECONDS = '3' } = process.env;
const seconds = Number(REACT_SECONDS);
const callers = 16;

interface Accounts {
  busy: Account;
  idle: Account;
}

async function rateOf({ url }: Running, { headers }: Account, length = seconds): Promise<number> {
  const end = Date.now() + length * 1000;
  let made = 0;
  const caller = async () => {
    while (Date.now() < end) {
      await send(`${url}/api/v1/contacts`, { firstName: 'Ada', email: `${made++}.${end}@example.com` }, headers);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return made / length;
}

interface Compared extends Accounts {
  server: Running;
  rounds: number;
  /** Done after each round of the busy one, so that nothing of it is left to do in the next. */
  after?: () => Promise<void>;
}

export async function creating(what: string, { server, busy, idle, rounds, after = async () => {} }: Compared): Promise<void> {
  await rateOf(server, busy, 2);
  await after();
  await rateOf(server, idle, 2);
  const seen = { busy: [] as number[], idle: [] as number[] };
  for (let n = 0; n < rounds; n++) {
    for (const side of n % 2 === 0 ? (['busy', 'idle'] as const) : (['idle', 'busy'] as const)) {
      seen[side].push(await rateOf(server, side === 'busy' ? busy : idle));
      if (side === 'busy') await after();
    }
  }
  const ratio = median(seen.busy.map((rate, n) => rate / seen.idle[n]!));
  console.log(
    `contacts created a second with 20 webhooks and 20 workflows, ${what}: ${median(seen.busy).toFixed(0)}, without ${median(seen.idle).toFixed(0)}, ratio ${ratio.toFixed(2)}`,
  );
}

/** An account with twenty of each, and one with none. */
export async function accounts(api: Running, sink: Sink, names: [string, string]): Promise<Accounts> {
  const [busy, idle] = [await account(api, names[0]), await account(api, names[1])];
  await webhooksOf(api, busy, { count: 20 }, sink);
  for (let n = 0; n < 20; n++) await workflowOf(api, busy, `W${n}`, { event: 'contact.created', conditions: { city: `City ${n}` } });
  return { busy, idle };
}
