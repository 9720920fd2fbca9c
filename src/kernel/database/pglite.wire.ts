import { PGlite } from '@electric-sql/pglite';
import { statementNames } from './statementNames.js';

type Stream = PGlite['execProtocolStream'];
type Options = Parameters<Stream>[1];
type Answer = Awaited<ReturnType<Stream>>;

/** Kinds of messages of PostgreSQL's wire protocol, from a client. */
const [PARSE, DESCRIBE, BIND, EXECUTE, SYNC, QUERY] = [...Buffer.from('PDBESQ')];
/** What a Describe is about; the other one is a portal. */
const STATEMENT = SYNC;
const syncMessage = Buffer.from([SYNC!, 0, 0, 0, 4]);
/** Length of the kind and the size at the begin of a message. */
const head = 5;
/** After these a statement may answer other columns than it did, or be gone. */
const changesStatements = /\b(?:create|alter|drop|discard|deallocate)\b/i;

/** Errors after which PostgreSQL has ended its process. */
const ends = new Set(['FATAL', 'PANIC']);

/** A statement that the database has by a name, once `described` is known. */
interface Named {
  name: string;
  described?: Answer;
}

/** A message with a body; text in it ends with a zero. */
function message(kind: string, body: Uint8Array): Buffer {
  const whole = Buffer.allocUnsafe(head + body.length);
  whole[0] = kind.charCodeAt(0);
  whole.writeUInt32BE(body.length + 4, 1);
  whole.set(body, head);
  return whole;
}

/** A Parse or Bind of the unnamed statement as one of a named one; `at` is where the name stands. */
function named(given: Uint8Array, name: string, at: number): Buffer {
  return message(String.fromCharCode(given[0]!), Buffer.concat([given.subarray(head, at), Buffer.from(name), given.subarray(at)]));
}

/**
 * PGlite sends a query as six messages, one after the other, each through all its layers, and has each statement parsed anew.
 * Here they go together, in one call for a statement that the database has by a name, else in two; texts get names as on
 * PostgreSQL.
 */
export class PGliteAtOnce extends PGlite {
  #nameOf = statementNames();
  #known = new Map<string, Named>();
  /** Messages that are not sent yet. */
  #held: Uint8Array[] = [];
  /** The statement that is on its way, if it has a name. */
  #current: Named | undefined;
  #synced = false;
  #ended: Error | undefined;

  /** Called when the database has ended itself, as where its log cannot be written: whatever is asked of it from then on fails. */
  onEnd(_cause: Error): void {}

  override async execProtocolStream(...[given, options]: Parameters<Stream>): Promise<Answer> {
    switch (given[0]) {
      case PARSE:
        this.#parse(given);
        return [];
      case DESCRIBE:
        return given[head] === STATEMENT ? this.#describe(given, options) : this.#hold(given);
      case BIND:
        return this.#hold(this.#current ? named(given, this.#current.name, head + 1) : given);
      case EXECUTE:
        this.#held.push(given, syncMessage);
        this.#synced = true;
        return this.#send(options);
      case SYNC:
        return this.#sync(given, options);
      default:
        if (given[0] === QUERY) this.#forgetAfter(textFrom(given, head));
        return this.#pass(given, options);
    }
  }

  async #pass(given: Uint8Array, options: Options): Promise<Answer> {
    // PGlite would go on as if nothing were, and wait for a lock that nobody gives back, for ever: a query that failed ends with a Sync.
    if (this.#ended) throw this.#ended;
    try {
      return await super.execProtocolStream(given, options);
    } catch (error) {
      const failure = error as Error & { severity?: string };
      if (ends.has(failure.severity ?? '')) {
        this.#ended = failure;
        this.onEnd(failure);
      }
      throw failure;
    }
  }

  #hold(given: Uint8Array): Answer {
    this.#held.push(given);
    return [];
  }

  #send(options: Options): Promise<Answer> {
    const together = Buffer.concat(this.#held);
    this.#held = [];
    return this.#pass(together, options);
  }

  #parse(given: Uint8Array): void {
    const text = textFrom(given, head + 1);
    this.#forgetAfter(text);
    const name = this.#nameOf({ sql: text });
    this.#synced = false;
    this.#current = name === undefined ? undefined : (this.#known.get(text) ?? { name });
    if (!this.#current) this.#held = [given];
    else if (this.#current.described) this.#held = [];
    else {
      this.#known.set(text, this.#current);
      // One that was not understood at its first try, or is forgotten, may stand there.
      this.#held = [message('C', Buffer.from(`S${name}\0`)), named(given, this.#current.name, head)];
    }
  }

  async #describe(given: Uint8Array, options: Options): Promise<Answer> {
    if (!this.#current) {
      this.#held.push(given);
      return this.#send(options);
    }
    if (!this.#current.described) {
      const { name } = this.#current;
      this.#held.push(message('D', Buffer.from(`S${name}\0`)));
      this.#current.described = await this.#send(options);
    }
    return this.#current.described;
  }

  /** The end of a query, which has gone with it unless it failed before. */
  #sync(given: Uint8Array, options: Options): Promise<Answer> | Answer {
    const gone = this.#synced;
    [this.#held, this.#current, this.#synced] = [[], undefined, false];
    return gone ? [] : this.#pass(given, options);
  }

  #forgetAfter(text: string): void {
    if (this.#known.size > 0 && changesStatements.test(text)) this.#known.clear();
  }
}

function textFrom(given: Uint8Array, begin: number): string {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  return bytes.toString('utf8', begin, bytes.indexOf(0, begin));
}
