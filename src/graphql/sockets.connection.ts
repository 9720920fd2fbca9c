import type { Duplex } from 'node:stream';
import type { WebSocket as ProtocolSocket } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import { type AppError, internalError } from '../kernel/base/errors.js';
import type { Principal } from '../kernel/context/context.js';
import { Backlog, drained, isCrowded } from './backpressure.js';
import { toGraphQLError } from './errors.js';
import { framed, type Message } from './message.js';
import { isOfServers } from './sockets.messages.js';
import type { Callers, Connected } from './subscriptions.callers.js';
import type { Sink } from './subscriptions.group.js';

/** Messages that a client may send in a second, and the size of one; a larger one counts as several. */
const messagesPerSecond = 200;
export const messageBytes = 64 * 1024;
/** How long a client has to answer a close, and to read what lies before it; a server that stops waits less. */
const farewellMs = 5000;
const goingAway = 1001;
const hastyMs = 1000;
/** A fault of ours: clients of graphql-ws come back after it, and never after 4500. */
const tryAgainLater = 1013;

/** Close codes of our own; a client comes back after the first with `after`. */
const slowReader = 4413;
const tooManyMessages = 4429;

/** Why a socket ends, as a close code; any other reason is a fault of ours. */
const codes: Partial<Record<AppError['code'], number>> = {
  unauthenticated: 4401,
  permission_denied: 4403,
  rate_limited: 4429,
  unavailable: goingAway,
};

/** One WebSocket: its caller, its subscriptions, and the limits of what it may send and leave unread. */
export class Connection implements Connected {
  /** Known from `connection_init` on. */
  principal: Principal;
  /** The operations that it has, by their ids. */
  readonly #operations = new Map<string, SubscriptionChannel>();
  #leave = () => {};
  #closed: (code: number, reason: string) => void = () => {};
  #isAlive = true;
  #second = 0;
  #messages = 0;
  readonly #backlog = new Backlog(() => this.ws.bufferedAmount);

  constructor(
    readonly ws: WebSocket,
    /** What the frames of it are written to. */
    private readonly line: Duplex,
    readonly caller: { authorization?: string; cookie?: string; ip: string; userAgent?: string },
    /** It is no stranger's any more. */
    private readonly known: () => void,
    /** Something of ours has failed. */
    private readonly failed: (error: unknown) => void,
  ) {
    ws.on('error', () => ws.terminate());
    ws.once('close', (code, reason) => this.#gone(code, reason.toString()));
    ws.on('pong', () => {
      this.#isAlive = true;
    });
    ws.on('ping', (data) => {
      if (this.#mayTalk() && this.#maySend()) ws.pong(data);
    });
  }

  get ip(): string {
    return this.caller.ip;
  }

  get isOpen(): boolean {
    return this.ws.readyState === this.ws.OPEN;
  }

  /** The caller is known, and stays as long as the credentials hold. Throws 429 when there are too many. */
  admit(callers: Callers, principal: Principal): void {
    this.principal = principal;
    this.#leave = callers.add(this);
    this.known();
  }

  /** What ends with the connection, from the moment that the server closes it or the client is gone. */
  onClosed(work: (code: number, reason: string) => void): void {
    this.#closed = work;
  }

  /**
   * An operation comes under an id. A client may take an id again as soon as it has completed it, and graphql-ws knows of one stream
   * of an id: whatever comes late of the one before is over, or nobody could end it.
   */
  began(id: string, channel: SubscriptionChannel): void {
    this.#operations.get(id)?.end();
    this.#operations.set(id, channel);
  }

  ended(id: string, channel: SubscriptionChannel): void {
    if (this.#operations.get(id) === channel) this.#operations.delete(id);
  }

  #gone(code: number, reason: string) {
    for (const channel of this.#operations.values()) channel.end();
    this.#operations.clear();
    this.#leave();
    this.#closed(code, reason);
    this.#closed = () => {};
  }

  /** What graphql-ws knows of the socket. */
  adapter(): ProtocolSocket {
    return {
      protocol: this.ws.protocol,
      send: (data) => this.send(data),
      close: (code, reason) => void this.close(code ?? 1000, reason ?? ''),
      onMessage: (work) => {
        this.ws.on('message', (data: RawData) => {
          const text = data.toString();
          if (this.#mayTalk(text.length)) work(text).catch((error: unknown) => this.#failed(text, error));
        });
      },
    };
  }

  #failed(text: string, error: unknown): void {
    // For graphql-ws a message that only servers send is one of the protocol: it throws where it should close.
    if (isOfServers(text)) void this.close(4400, 'Invalid message received');
    else this.fault(error);
  }

  #mayTalk(size = 0): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) this.#messages = 0;
    this.#messages += Math.max(1, Math.ceil(size / messageBytes));
    this.#second = second;
    if (this.#messages <= messagesPerSecond) return this.isOpen;
    void this.close(tooManyMessages, 'Too many messages');
    return false;
  }

  /** Sends, unless the reader has left too much unread: then the socket is closed. */
  send(text: string): void {
    if (this.#maySend()) this.ws.send(text, this.#backlog.add(Buffer.byteLength(text)));
  }

  /**
   * Sends a message whose middle goes to many sockets. It is written past `ws`, which would make the bytes once for each socket. `ws` has
   * nothing waiting that could come between: no message is compressed, or sent in parts.
   */
  sendAround(before: Buffer, bytes: Buffer, after: Buffer): void {
    if (!this.#maySend()) return;
    const chunks = framed(before, bytes, after);
    const taken = this.#backlog.add(bytes.length);
    if (chunks.length > 1) this.line.cork();
    for (const chunk of chunks) this.line.write(chunk, chunk === chunks.at(-1) ? taken : undefined);
    if (chunks.length > 1) this.line.uncork();
  }

  #maySend(): boolean {
    if (!this.isOpen) return false;
    if (!this.#backlog.isFull) return true;
    void this.close(slowReader, 'Too slow: connect again and go on after the last event');
    return false;
  }

  isCrowded(): boolean {
    return this.isOpen && isCrowded(this.ws.bufferedAmount);
  }

  drained(): Promise<void> {
    const giveUp = () => void this.close(slowReader, 'Too slow');
    return drained({ isOpen: () => this.isOpen, unread: () => this.ws.bufferedAmount, line: this.line, giveUp });
  }

  /** Ends a socket that answered nothing and took nothing since the last time, and asks the others for an answer. */
  pulse(): void {
    const hasMoved = this.#backlog.hasMoved(this.line);
    if (!this.#isAlive && !hasMoved) this.ws.terminate();
    this.#isAlive = false;
    if (this.isOpen) this.ws.ping();
  }

  end(reason: AppError): void {
    void this.close(codes[reason.code] ?? tryAgainLater, reason.message);
  }

  /** Ends it for a fault of ours, of which nobody else is told. */
  fault(error: unknown): void {
    this.failed(error);
    this.end(internalError());
  }

  /** Closes, and cuts the line when the other side does not answer. */
  close(code: number, reason: string): Promise<void> {
    if (this.ws.readyState === this.ws.CLOSED) return Promise.resolve();
    return new Promise((resume) => {
      const cut = setTimeout(() => this.ws.terminate(), code === goingAway ? hastyMs : farewellMs);
      this.ws.once('close', () => {
        clearTimeout(cut);
        resume();
      });
      this.ws.close(code, Buffer.byteLength(reason) <= 120 ? reason : reason.slice(0, 40));
      this.#gone(code, reason);
    });
  }
}

/** What ends the message that a result stands in. */
const tail = Buffer.from('}');

const over = { done: true as const, value: undefined };

/**
 * One subscription of a socket. graphql-ws holds a stream without results, which tells it and us when the subscription
 * ends; the results go straight to the socket, so that what is the same for many is printed once.
 */
export class SubscriptionChannel implements Sink {
  readonly #head: Buffer;
  /** Whether it has begun, and whether nobody waits for it any more. */
  isOpen = false;
  isOver = false;
  #stop = () => {};
  #fail = (_reason: Error) => {};
  #complete = (_end: typeof over) => {};
  readonly #ended = new Promise<typeof over>((complete, fail) => {
    this.#complete = complete;
    this.#fail = fail;
  });

  constructor(
    private readonly connection: Connection,
    private readonly id: string,
    private readonly requestId: string,
  ) {
    connection.began(id, this);
    this.#head = Buffer.from(`{"id":${JSON.stringify(id)},"type":"next","payload":`);
    // It may fail before graphql-ws looks.
    this.#ended.catch(() => {});
  }

  /** How the subscription is stopped. */
  begun(stop: () => void): void {
    this.isOpen = true;
    if (this.isOver) stop();
    else this.#stop = stop;
  }

  /** Begins the subscription and ends it at once, because nothing will ever come. graphql-ws tells the client of it. */
  complete(): void {
    this.isOpen = true;
    this.connection.ended(this.id, this);
    this.#complete(over);
  }

  /** Ends it, without a word to the client. */
  end(): void {
    this.isOver = true;
    this.#stop();
    this.connection.ended(this.id, this);
  }

  send({ bytes }: Message): void {
    this.connection.sendAround(this.#head, bytes, tail);
  }

  isCrowded(): boolean {
    return this.connection.isCrowded();
  }

  drained(): Promise<void> {
    return this.connection.drained();
  }

  /** graphql-ws tells the client of it. */
  fail(reason: AppError): void {
    this.#stop();
    this.connection.ended(this.id, this);
    this.#fail(toGraphQLError(reason, this.requestId));
  }

  /**
   * What graphql-ws iterates: it waits for the end or the reason of a failure, and for good where the client or the socket ends the
   * subscription. Else graphql-ws would tell a later operation of the same id that it is complete.
   */
  stream(): AsyncIterator<never, undefined> & AsyncIterable<never> {
    const end = async () => {
      this.end();
      return over;
    };
    return {
      next: () => this.#ended,
      return: end,
      throw: end,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }
}
