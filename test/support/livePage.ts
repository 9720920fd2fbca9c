import { applyLive, haveOf, type LiveRow } from '../../src/client/live.js';
import type { Loose } from './client.js';
import { bearer, eventually, type Feed, Socket } from './live.js';

/** A client that watches live lists and keeps its picture of them, through cuts and from whichever process. */
export class LiveScreen {
  socket?: Socket;
  feed?: Feed & { id: string };
  /** How many messages of the feed are in the picture. */
  #taken = 0;
  lists: Record<string, LiveRow<Loose>[]> = {};
  totals: Record<string, number> = {};
  /** What the messages said, in their order. */
  readonly messages: Loose[] = [];

  constructor(
    private readonly key: { secret: string },
    readonly document: string,
    readonly variables: object = {},
  ) {}

  /** Connects, and goes on from what there is. */
  async open(port: number): Promise<this> {
    return this.begin(await Socket.open(port, { init: bearer(this.key) }));
  }

  /** Goes on from what there is, in a socket that others may share. */
  begin(socket: Socket): this {
    this.socket = socket;
    // A screen that has seen nothing has nothing, not an empty list.
    const after = this.messages.length > 0 ? haveOf(this.lists) : undefined;
    this.feed = this.socket.run(this.document, { ...this.variables, after });
    this.#taken = 0;
    return this;
  }

  cut(): void {
    this.take();
    this.socket?.cut();
  }

  /** Puts into the picture what has come. */
  take(): this {
    for (const event of this.feed!.events.slice(this.#taken)) {
      this.#taken++;
      this.messages.push(event);
      for (const [name, list] of Object.entries<Loose>(event)) {
        if (name === 'position') continue;
        if (list.rows) this.lists[name] = applyLive(this.lists[name] ?? [], list);
        this.totals[name] = list.totalCount;
      }
    }
    return this;
  }

  /** The picture of a list as the query would answer it. */
  page(name = 'deals'): { nodes: Loose[]; totalCount: number | undefined } {
    this.take();
    return { nodes: (this.lists[name] ?? []).map(({ node }) => node), totalCount: this.totals[name] };
  }

  /** Waits for its beginning; whether it costs no more than may be read at each event. */
  async isServed(): Promise<boolean> {
    await eventually(() => this.feed!.errors || this.feed!.events.length > 0);
    return this.feed!.errors?.[0]?.extensions.limit !== 'cost';
  }

  /** Waits for the nth message of this connection, and answers all that came by then. */
  async nth(n: number): Promise<Loose[]> {
    await this.feed!.nth(n);
    this.take();
    return this.messages;
  }

  /** Waits until the picture is what a fresh query answers. */
  async isRight(fresh: () => Promise<Loose>, name = 'deals'): Promise<void> {
    let [seen, expected]: Loose[] = [];
    const isSame = async () => {
      if (this.feed!.errors) throw new Error(JSON.stringify(this.feed!.errors));
      [expected, seen] = [JSON.stringify(await fresh()), JSON.stringify(this.page(name))];
      return seen === expected;
    };
    await eventually(isSame).catch((error) => {
      throw new Error(`${error.message}\n${this.document} ${JSON.stringify(this.variables)}\nshows  ${seen}\nand is ${expected}`);
    });
  }
}
