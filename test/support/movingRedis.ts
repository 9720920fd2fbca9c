import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What a replica answers that does not say no, by the name of the command. */
const answers: Record<string, string> = { ping: '+PONG\r\n', publish: ':0\r\n', get: '$-1\r\n' };
const refusal = "-READONLY You can't write against a read only replica.\r\n";

/** The names of the commands of a message. */
function namesIn(message: Buffer): string[] {
  const parts = message.toString('latin1').split('\r\n');
  const names: string[] = [];
  for (let at = 0; parts[at]?.startsWith('*'); at += 1 + 2 * Number(parts[at]!.slice(1))) names.push((parts[at + 2] ?? '').toLowerCase());
  return names;
}

/**
 * Leads to Redis as a name does that moves from one server to another: the lines of before stay open, to what is a replica from then on.
 * Such a one hears what is published to its master, and keeps to itself what is published to it.
 */
export class MovingRedis {
  readonly #lines = new Map<Socket, { far: Socket; isOfBefore: boolean }>();
  #moves = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: { host: string; port: number },
    private readonly tells: boolean,
  ) {
    server.on('connection', (near) => this.#carry(near));
  }

  /** @param tells whether the servers say which ones they are */
  static async before(url: string, { tells = true } = {}): Promise<MovingRedis> {
    const { hostname, port } = new URL(url);
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MovingRedis(server, { host: hostname, port: Number(port || 6379) }, tells);
  }

  /** The same URL, by the name that moves. */
  through(url: string): string {
    const passed = new URL(url);
    passed.hostname = '127.0.0.1';
    passed.port = String((this.server.address() as AddressInfo).port);
    return passed.href;
  }

  /** The name leads to another server: lines that are made from here on go there. */
  move(): void {
    this.#moves++;
    for (const line of this.#lines.values()) line.isOfBefore = true;
  }

  /** How many lines lead to the server that the name leads to. */
  get lines(): number {
    return [...this.#lines.values()].filter(({ isOfBefore }) => !isOfBefore).length;
  }

  async close(): Promise<void> {
    for (const [near, { far }] of this.#lines) for (const socket of [near, far]) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  #carry(near: Socket): void {
    const far = connect(this.target);
    const line = { far, isOfBefore: false };
    // A letter that no id begins with.
    const server = 'ghijklmnopqrstuvwxyz'.charAt(this.#moves);
    this.#lines.set(near, line);
    const end = () => {
      this.#lines.delete(near);
      near.destroy();
      far.destroy();
    };
    near.on('data', (message: Buffer) => {
      const names = line.isOfBefore ? namesIn(message) : [];
      if (names.length === 0 || names.some((name) => name.endsWith('subscribe'))) far.write(message);
      else near.write(names.map((name) => answers[name] ?? refusal).join(''));
    });
    // Each server has an id of its own, by which it may be known.
    const shown = (text: string) => (this.tells ? text.replace(/(?<=\r\nrun_id:)\w/, server) : text.replace('\r\nrun_id:', '\r\nrun_no:'));
    far.on('data', (message: Buffer) => near.write(Buffer.from(shown(message.toString('latin1')), 'latin1')));
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
  }
}
