import { connect, type Socket } from 'node:net';

/** A connection on which a test writes what it likes. */
export class Line {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<number>;

  constructor(port: number) {
    const begun = Date.now();
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString();
    });
    this.socket.on('error', () => {});
    this.closed = new Promise((resume) => this.socket.once('close', () => resume(Date.now() - begun)));
  }

  write(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** The statuses of the replies that have come when the line is closed. */
  async statuses(): Promise<number[]> {
    await this.closed;
    return [...this.received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));
  }
}
