import { AppError, denied } from '../kernel/base/errors.js';
import { callersWake } from '../kernel/base/principal.js';
import type { Recheck, Staying } from '../kernel/context/callers.js';
import type { AccountInfo, App, Principal } from '../kernel/context/context.js';
import { warnThrottled } from '../kernel/context/unavailableLog.js';
import { rightsOf } from '../kernel/feed/feed.js';

/** Somebody who stays connected: a socket or a stream. */
export interface Connected extends Staying {
  /** Ends it. */
  end(reason: AppError): void;
}

/** How often the credentials of those who are connected are looked at again, and how long it rests between two looks when some change. */
const [recheckMs, restMs] = [1000, 250];

/** Whose connections and subscriptions count together: an API key's, or a person's. */
export const callerOf = ({ kind, id, userId }: Principal): string => (kind === 'key' ? id : (userId ?? id));

/** Who is connected, so that nobody stays longer than his credentials hold. */
export class Callers {
  readonly #connected = new Set<Connected>();
  readonly #counts = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  readonly #leave: () => void;
  /** Begins the next look where some credentials have changed. */
  #next?: NodeJS.Timeout;
  #endedAt = Number.NEGATIVE_INFINITY;
  #checking = false;
  /** Whether some have changed since the look under way began. */
  #changed = false;

  constructor(
    private readonly app: App,
    private readonly recheck: Recheck,
    /** Is told how the accounts of those who stay are now. */
    private readonly see: (account: AccountInfo) => void,
  ) {
    this.#timer = setInterval(() => void this.#check(), recheckMs).unref();
    this.#leave = app.channel.subscribe(callersWake, () => this.#checkSoon());
  }

  get size(): number {
    return this.#connected.size;
  }

  /** Throws 429 when the caller has too many connections. Returns the way out. */
  add(connected: Connected): () => void {
    const { kind } = connected.principal;
    const who = callerOf(connected.principal);
    const { enabled, sockets, keySockets } = this.app.config.limits;
    const count = (this.#counts.get(who) ?? 0) + 1;
    if (enabled && count > (kind === 'key' ? keySockets : sockets))
      throw new AppError('rate_limited', 'Too many connections', { retryAfter: 1 });
    this.#counts.set(who, count);
    this.#connected.add(connected);
    return () => {
      if (!this.#connected.delete(connected)) return;
      const left = this.#counts.get(who)! - 1;
      if (left > 0) this.#counts.set(who, left);
      else this.#counts.delete(who);
    };
  }

  /** Looks at once, or as soon as it has rested: nobody who changes much keeps all others busy. */
  #checkSoon(): void {
    // What changes while a look is under way is not in it.
    this.#changed = this.#checking;
    if (this.#checking) return;
    const wait = Math.max(this.#endedAt + restMs - performance.now(), 0);
    this.#next ??= setTimeout(() => {
      this.#next = undefined;
      void this.#check();
    }, wait).unref();
  }

  async #check(): Promise<void> {
    if (this.#checking || this.#connected.size === 0) return;
    this.#checking = true;
    try {
      const all = [...this.#connected];
      const answers = await this.recheck(this.app, all);
      for (const [i, connected] of all.entries()) hold(connected, answers[i]!);
      const accounts = answers.flatMap((now) => (now instanceof AppError ? [] : [[now.account.id, now.account] as const]));
      for (const account of new Map(accounts).values()) this.see(account);
    } catch (error) {
      // Without its database the server delivers no events either.
      warnThrottled(this.app, error, 'credentials could not be looked at again');
    } finally {
      this.#checking = false;
      this.#endedAt = performance.now();
      if (this.#changed) this.#checkSoon();
    }
  }

  /** Ends all of them. */
  close(reason: AppError): void {
    clearInterval(this.#timer);
    clearTimeout(this.#next);
    this.#leave();
    for (const connected of [...this.#connected]) connected.end(reason);
  }
}

/** What runs was allowed by the rights of then: with others it has to be asked for anew. */
function hold(connected: Connected, now: Principal | AppError) {
  if (now instanceof AppError) connected.end(now);
  else if (rightsOf(now) !== rightsOf(connected.principal)) connected.end(denied('The rights of the caller have changed: connect again'));
  else connected.principal = now;
}
