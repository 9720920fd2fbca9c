import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../kernel/base/clock.js';
import { type JsonReply, type LoopbackExchange, LoopbackServer } from '../loopback.js';
import { Outbox } from '../outbox.js';
import type { LineReply, VendorLineRecord } from './line.js';

/** What the simulator does with the next messages. */
export type LineBehaviour =
  | { kind: 'refuse'; status: number; code?: string; retryAfter?: number }
  /** Neither takes the message nor answers. */
  | { kind: 'hold' }
  /** Takes the message, then never answers. */
  | { kind: 'hang' }
  /** Takes the message and answers a fault of its own. */
  | { kind: 'fail'; status: number }
  /** Ends the connection without an answer, before or after it has taken the message. */
  | { kind: 'cut'; when: 'before' | 'after' };

interface Account {
  lines: VendorLineRecord[];
  replies: LineReply[];
}

const pageSize = 100;

/**
 * The vendor of lines on the loopback, in the form that line.ts describes. Any key `line_<account>` or `line_<account>.<more>` is one of
 * an account that has three lines. It writes each message once to the outbox, under its operation key, and does what it is told to:
 * `POST /simulator/next` (a behaviour for the next message), `/simulator/reply` (`{ account, line, from, body }`), `/simulator/lines`
 * (`{ account, ids }`: those that stay), `/simulator/revoke` (`{ key }`), `/simulator/down` (`{ down }`).
 */
export class LineSimulator {
  readonly #outbox: Outbox;
  readonly #accounts = new Map<string, Account>();
  readonly #revoked = new Set<string>();
  readonly #next: LineBehaviour[] = [];
  /** Ids of the messages that were taken, by line and operation key. */
  readonly #taken = new Map<string, string>();
  #isDown = false;
  #asked = 0;
  #onAsked?: (path: string) => Promise<void>;
  readonly #server = new LoopbackServer((exchange) => this.#answer(exchange));

  constructor(outboxDir: string, clock: Clock) {
    this.#outbox = new Outbox(outboxDir, clock);
  }

  /** Where it listens. Begins to listen when first asked. */
  base(port = 0): Promise<string> {
    return this.#server.base(port);
  }

  close(): void {
    this.#outbox.close();
    this.#server.close();
  }

  /** The next messages meet these behaviours, one each. */
  will(...behaviours: LineBehaviour[]): void {
    this.#next.push(...behaviours);
  }

  /** A contact answers on a line. */
  reply(account: string, { line, from, body, id }: { line: string; from: string; body: string; id?: string }): void {
    const { replies } = this.#account(account);
    const { number } = this.lines(account).find((one) => one.id === line)!;
    const nth = String(replies.length + 1);
    replies.push({ id: id ?? `${account}-reply-${nth}`, cursor: nth, line, from, to: number, body });
  }

  /** The lines of an account. */
  lines(account: string): VendorLineRecord[] {
    return this.#account(account).lines;
  }

  /** From here on an account has these of its lines and no others. */
  keep(account: string, ids: readonly string[]): void {
    this.#account(account).lines = this.lines(account).filter(({ id }) => ids.includes(id));
  }

  /** A key is no longer taken. */
  revoke(key: string): void {
    this.#revoked.add(key);
  }

  /** Whether every request is answered 503. */
  down(isDown: boolean): void {
    this.#isDown = isDown;
  }

  /** How many requests it was asked, those to itself aside. */
  get asked(): number {
    return this.#asked;
  }

  /** Something that happens while the next request waits for its answer. */
  meanwhile(work: (path: string) => Promise<void>): void {
    this.#onAsked = work;
  }

  #account(name: string): Account {
    let account = this.#accounts.get(name);
    if (!account) {
      const lines = [1, 2, 3].map((nth) => ({ id: `${name}-${nth}`, number: numberOf(`${name}-${nth}`), name: `Line ${nth}` }));
      account = { lines, replies: [] };
      this.#accounts.set(name, account);
    }
    return account;
  }

  async #answer(exchange: LoopbackExchange): Promise<void> {
    const { request, body, reply } = exchange;
    const { pathname: path, searchParams } = exchange.url;
    if (path === '/simulator/waiting') return reply(200, { waiting: this.#next.length });
    if (path.startsWith('/simulator/')) return this.#told(path, body, reply);
    this.#asked++;
    const meanwhile = this.#onAsked;
    this.#onAsked = undefined;
    await meanwhile?.(path);
    if (this.#isDown) return reply(503, { code: 'unavailable' });
    const name = this.#nameOf(request);
    if (!name) return reply(401, { code: 'unauthorized' });
    const account = this.#account(name);
    if (path === '/v1/account') return reply(200, { id: name, cursor: String(account.replies.length) });
    if (path === '/v1/lines') return reply(200, { lines: account.lines });
    if (path === '/v1/replies') return reply(200, pageOf(account.replies, Number(searchParams.get('after'))));
    const line = account.lines.find(({ id }) => path === `/v1/lines/${encodeURIComponent(id)}/messages`);
    if (!line) return reply(404, { code: 'not_found' });
    await this.#take(line, exchange);
  }

  #told(path: string, asked: string, reply: JsonReply): void {
    const { account, line, from, body, ids, key, down } = JSON.parse(asked) as Record<string, never>;
    if (path === '/simulator/next') this.will(JSON.parse(asked));
    if (path === '/simulator/reply') this.reply(account!, { line: line!, from: from!, body: body! });
    if (path === '/simulator/lines') this.keep(account!, ids!);
    if (path === '/simulator/revoke') this.revoke(key!);
    if (path === '/simulator/down') this.down(Boolean(down));
    reply(200, { done: true });
  }

  /** The account of a request's key. */
  #nameOf({ headers }: IncomingMessage): string | undefined {
    const key = headers.authorization?.replace(/^Bearer /, '') ?? '';
    return this.#revoked.has(key) ? undefined : /^line_([\w-]{1,60})(\.[\w-]+)?$/.exec(key)?.[1];
  }

  async #take(line: VendorLineRecord, { request: { headers }, body: text, reply, cut }: LoopbackExchange): Promise<void> {
    const operationKey = String(headers['idempotency-key']);
    const at = `${line.id} ${operationKey}`;
    const behaviour = this.#next.shift();
    if (behaviour?.kind === 'refuse') {
      const again: Record<string, string> = behaviour.retryAfter ? { 'retry-after': String(behaviour.retryAfter) } : {};
      return reply(behaviour.status, { code: behaviour.code ?? 'refused' }, again);
    }
    if (behaviour?.kind === 'hold') return;
    if (behaviour?.kind === 'cut' && behaviour.when === 'before') return cut();
    const { to, body } = JSON.parse(text) as { to: string; body: string };
    // The operation key names the file, so that a simulator that was started anew knows what the one before it took.
    const id = this.#taken.get(at) ?? operationKey;
    if (!this.#taken.has(at)) {
      this.#taken.set(at, id);
      await this.#outbox.write({ channel: 'sms', line: line.id, from: line.number, to, body }, id);
    }
    if (behaviour?.kind === 'hang') return;
    if (behaviour?.kind === 'cut') return cut();
    if (behaviour?.kind === 'fail') return reply(behaviour.status, { code: 'failed' });
    reply(201, { id });
  }
}

const pageOf = (replies: readonly LineReply[], after: number) => ({
  replies: replies.slice(after, after + pageSize),
  more: replies.length > after + pageSize,
});

/** A number of a line, always the same. */
const numberOf = (id: string) => `+1628${String(createHash('sha256').update(id).digest().readUInt32BE() % 10 ** 7).padStart(7, '0')}`;
