/** A result as JSON that goes to many: its bytes are made once for all of them. */
export class Message {
  #bytes?: Buffer;

  constructor(readonly text: string) {}

  get length(): number {
    return this.text.length;
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text);
    return this.#bytes;
  }
}

/** From this size on a text is written from where it is; a smaller one is copied, so that a frame is one chunk. */
const copiedBytes = 16 * 1024;
/** The first byte of a frame that is a whole text message, and what stands in the second for a length of two and of eight bytes. */
const [wholeText, inTwo, inEight] = [0x81, 126, 127];

const headerBytes = (length: number) => (length < inTwo ? 2 : length < 0x10000 ? 4 : 10);

/**
 * A text message as the frame of a WebSocket that a server sends (RFC 6455, 5.2: whole, not masked, not compressed): what is put around
 * the bytes that many get is new, and so are small bytes themselves.
 */
export function framed(before: Buffer, bytes: Buffer, after: Buffer): Buffer[] {
  const length = before.length + bytes.length + after.length;
  const start = headerBytes(length) + before.length;
  if (bytes.length >= copiedBytes) return [opened(Buffer.allocUnsafe(start), length, before), bytes, after];
  const frame = opened(Buffer.allocUnsafe(start + bytes.length + after.length), length, before);
  frame.set(bytes, start);
  frame.set(after, start + bytes.length);
  return [frame];
}

/** Writes the header of a message of this length and what it begins with. */
function opened(frame: Buffer, length: number, before: Buffer): Buffer {
  const header = headerBytes(length);
  frame[0] = wholeText;
  if (header === 2) frame[1] = length;
  else if (header === 4) frame.writeUInt16BE(length, frame.writeUInt8(inTwo, 1));
  else frame.writeBigUInt64BE(BigInt(length), frame.writeUInt8(inEight, 1));
  frame.set(before, header);
  return frame;
}
