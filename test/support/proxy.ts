import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of PostgreSQL or Redis that can be cut, hang or refuse, as networks do. */
export class TcpProxy {
  readonly #pairs = new Set<[Socket, Socket]>();
  #mute?: () => void;
  #losing?: { text: string; arrives: boolean; after: number; lost: () => void; inside: Set<Socket> };
  #mode: 'open' | 'hanging' | 'refusing' = 'open';

  private constructor(
    private readonly server: Server,
    private readonly target: { host: string; port: number },
  ) {
    server.on('connection', (near) => this.#carry(near));
  }

  /** Listens in front of the host and port of a URL. */
  static async before(url: string): Promise<TcpProxy> {
    const { hostname, port, protocol } = new URL(url);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const usual = protocol.startsWith('redis') ? 6379 : 5432;
    return new TcpProxy(server, { host: hostname, port: Number(port || usual) });
  }

  /** The same URL, through the proxy. */
  through(url: string): string {
    const passed = new URL(url);
    passed.hostname = '127.0.0.1';
    passed.port = String((this.server.address() as AddressInfo).port);
    return passed.href;
  }

  /** How many connections there are. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Ends every connection at once, as a restart does; new ones are carried. */
  cut(): void {
    for (const [near, far] of this.#pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  }

  /** Ends every connection and refuses new ones: nobody is there. */
  refuse(): void {
    this.#mode = 'refusing';
    this.cut();
  }

  /** Nothing passes any more, and nobody is told: connections are half-open, new ones are taken and never answered. */
  hang(): void {
    this.#mode = 'hanging';
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** What hangs will hang for ever, and new connections are carried: the other side has gone and come again. */
  forget(): void {
    this.#mode = 'open';
  }

  /** The next request still arrives, no reply does: resolves when it has been carried. */
  muteAfterRequest(): Promise<void> {
    return new Promise((carried) => {
      this.#mute = carried;
    });
  }

  /**
   * The next transaction that sends this text loses its COMMIT, or the answer to it: what was done is known to the database alone.
   * Resolves once it has; nothing more comes back on it until it is cut. `after` so many that send it keep theirs.
   */
  loseCommitOf(text: string, { arrives, after = 0 }: { arrives: boolean; after?: number }): Promise<void> {
    return new Promise((lost) => {
      this.#losing = { text, arrives, after, lost, inside: new Set() };
    });
  }

  /** All is well again; what hung goes on. */
  heal(): void {
    this.#mode = 'open';
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  #isLost(near: Socket, chunk: Buffer): boolean {
    const losing = this.#losing;
    if (!losing) return false;
    if (chunk.includes('BEGIN')) losing.inside.delete(near);
    if (chunk.includes(losing.text)) losing.inside.add(near);
    if (!chunk.includes('COMMIT') || !losing.inside.delete(near)) return false;
    return losing.after-- === 0;
  }

  #lose(far: Socket, chunk: Buffer): void {
    const { arrives, lost } = this.#losing!;
    this.#losing = undefined;
    far.removeAllListeners('data');
    if (!arrives) return void lost();
    far.once('data', lost);
    far.write(chunk);
  }

  #carry(near: Socket): void {
    if (this.#mode === 'refusing') return void near.resetAndDestroy();
    const far = connect(this.target);
    const pair: [Socket, Socket] = [near, far];
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    near.on('data', (chunk: Buffer) => {
      if (this.#isLost(near, chunk)) return void this.#lose(far, chunk);
      if (this.#mute) far.pause();
      far.write(chunk);
      this.#mute?.();
      this.#mute = undefined;
    });
    far.on('data', (chunk) => near.write(chunk));
    for (const socket of pair) socket.on('error', end).on('close', end);
    if (this.#mode === 'hanging') for (const socket of pair) socket.pause();
  }
}
