import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptedIn } from './acceptHeader.js';

/** Shorter answers fit into a packet as they are. */
const leastBytes = 1400;
/** How many are compressed at a time: beyond that answers go out as they are, and nothing waits in line for a thread. */
const mostAtATime = 16;
/** Fast settings: an answer is read once. */
const brotliQuality = 4;
const gzipLevel = 5;

const compressible = /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]+\+)?(?:json|javascript|xml|yaml)\b|image\/svg)/i;

type Coding = 'br' | 'gzip';

const [br, gz] = [promisify(brotliCompress), promisify(gzip)];

/** A body in a coding, made by a thread of its own. */
export const compressed = (body: Buffer, coding: Coding, quality = coding === 'br' ? brotliQuality : gzipLevel): Promise<Buffer> =>
  coding === 'br'
    ? br(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } })
    : gz(body, { level: quality });

/** The coding that a client takes, Brotli rather than gzip where it likes both as much. Undefined for none. */
export function codingFor(accept: string | undefined): Coding | undefined {
  if (!accept) return undefined;
  const weights = new Map(acceptedIn(accept, 20).map(({ name, q }) => [name, q]));
  const weight = (coding: Coding) => weights.get(coding) ?? weights.get('*') ?? 0;
  if (weight('br') > 0 && weight('br') >= weight('gzip')) return 'br';
  return weight('gzip') > 0 ? 'gzip' : undefined;
}

/**
 * Compresses answers for clients that take them so. Streams and Server-Sent Events go out as they come, short answers as they are;
 * what is compressed already says so and is left alone.
 */
export class Compression {
  #underWay = 0;

  /** The body to send: the given one, or its compressed form with the headers that say so. */
  async send(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    if (!isWorthIt(payload) || reply.hasHeader('Content-Encoding') || !compressible.test(String(reply.getHeader('Content-Type') ?? '')))
      return payload;
    addVary(reply, 'Accept-Encoding');
    const coding = codingFor(request.headers['accept-encoding'] as string | undefined);
    if (!coding || request.method === 'HEAD' || this.#underWay >= mostAtATime) return payload;
    this.#underWay++;
    try {
      const body = await compressed(typeof payload === 'string' ? Buffer.from(payload) : payload, coding);
      reply.header('Content-Encoding', coding).removeHeader('Content-Length');
      // The same answer in another coding is other bytes.
      const tag = reply.getHeader('ETag');
      if (typeof tag === 'string' && !tag.startsWith('W/')) reply.header('ETag', `W/${tag}`);
      return body;
    } finally {
      this.#underWay--;
    }
  }
}

const isWorthIt = (payload: unknown): payload is string | Buffer =>
  (typeof payload === 'string' || Buffer.isBuffer(payload)) && payload.length >= leastBytes;

/** Adds a name to the Vary header. */
function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('Vary');
  const names = typeof present === 'string' ? present.split(', ') : [];
  if (!names.includes(name)) reply.header('Vary', [...names, name].join(', '));
}
