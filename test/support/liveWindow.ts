import type { Client } from './client.js';
import { bearer, Socket } from './live.js';
import { LiveScreen } from './livePage.js';

/** A list as a live query and as the query behind it, both without the name under which they answer. */
export interface WatchedList {
  live: string;
  query: string;
  /** Whether it may show what no event tells of, and so be right only after the next one. */
  isQuiet?: boolean;
}

/** A document of some lists, each under a name of its own, and the picture of it that somebody keeps. */
class Watched {
  readonly screen: LiveScreen;

  constructor(
    key: { secret: string },
    private readonly lists: readonly WatchedList[],
  ) {
    const live = lists.map((list, n) => `l${n}: ${list.live}`).join(' ');
    this.screen = new LiveScreen(key, `subscription ($after: [LiveHave!]) { live(after: $after) { ${live} } }`);
  }

  /** Waits until each list is what somebody who asks now is answered. */
  async isRight(caller: Client): Promise<void> {
    for (const [n, { query }] of this.lists.entries()) {
      const fresh = async () => {
        const { data, errors } = await caller.gql(`{ ${query} }`);
        if (errors) throw new Error(JSON.stringify(errors));
        return Object.values(data)[0];
      };
      await this.screen.isRight(fresh as () => Promise<object>, `l${n}`);
    }
  }

  /** How often a list came whole. */
  get wholes(): number {
    return this.screen.messages.reduce((sum, message) => sum + this.lists.filter((_list, n) => message[`l${n}`].isWhole).length, 0);
  }

  get isQuiet(): boolean {
    return this.lists.some(({ isQuiet }) => isQuiet);
  }

  get size(): number {
    return this.lists.length;
  }
}

/** A window of a browser: live queries that share a socket, and with it are cut, read slowly and begun again elsewhere. */
export class LiveWindow {
  watched: readonly Watched[];
  /** Whether it takes nothing for now. */
  isSlow = false;
  #socket?: Socket;

  constructor(
    private readonly key: { secret: string },
    documents: readonly (readonly WatchedList[])[],
  ) {
    this.watched = documents.map((lists) => new Watched(key, lists));
  }

  /** Connects, and goes on with all of it. */
  async open(port: number): Promise<void> {
    this.#socket = await Socket.open(port, { init: bearer(this.key) });
    for (const { screen } of this.watched) screen.begin(this.#socket);
  }

  /** Waits for the beginning of all, and leaves out what costs more than may be read at each event. */
  async served(): Promise<void> {
    const isServed = await Promise.all(this.watched.map(({ screen }) => screen.isServed()));
    this.watched = this.watched.filter((_one, n) => isServed[n]);
  }

  cut(): void {
    for (const { screen } of this.watched) screen.take();
    this.#socket!.cut();
    this.isSlow = false;
  }

  slow(): void {
    this.#socket!.ws.pause();
    this.isSlow = true;
  }

  resume(): void {
    this.#socket!.ws.resume();
    this.isSlow = false;
  }

  /** Waits until all of it is right, or what is without an event that comes after it. */
  async isRight(caller: Client, { butQuiet = false } = {}): Promise<void> {
    for (const one of this.watched) if (!butQuiet || !one.isQuiet) await one.isRight(caller);
  }
}
