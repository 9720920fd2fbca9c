import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Length and protocol, which a startup packet begins with, and the empty name that it ends with. */
const [head, end] = [8, '\0\0'];

/** A startup packet without its `options`. */
function withoutOptions(packet: Buffer): Buffer {
  const words = packet.subarray(head, -end.length).toString().split('\0');
  const kept = words.filter((_, i) => words[i - (i % 2)] !== 'options');
  const body = Buffer.from(kept.join('\0') + end);
  const begin = Buffer.from(packet.subarray(0, head));
  begin.writeInt32BE(head + body.length, 0);
  return Buffer.concat([begin, body]);
}

export interface Pooler {
  /** The URL of the database, through the pooler. */
  url: string;
  close(): Promise<void>;
}

/** A pooler in front of PostgreSQL that ignores the startup parameter `options`, as PgBouncer is often told to. */
export async function poolerBefore(url: string): Promise<Pooler> {
  const { hostname: host, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host, port: Number(port || 5432) });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => [near, far].map((each) => each.destroy()));
    }
    near.once('data', (packet: Buffer) => {
      far.write(withoutOptions(packet));
      near.pipe(far);
    });
    far.pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const passed = new URL(url);
  passed.hostname = '127.0.0.1';
  passed.port = String((server.address() as AddressInfo).port);
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { url: passed.href, close };
}
