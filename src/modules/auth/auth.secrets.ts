import { hash as hashOf } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { crc32 } from 'node:zlib';
import { hash, verify } from '@node-rs/argon2';
import type { Clock } from '../../kernel/base/clock.js';
import { Shares } from '../../kernel/base/shares.js';

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const mostAtOnce = 4;
/** Each try spends one of the few that an address has: who is refused comes back when the flood may be over. */
const retryAfter = 30;
/** One core is left to all else: a hash takes one for some 30 ms, and a flood of logins must not take the machine. */
const turns = new Shares(Math.max(1, Math.min(mostAtOnce, availableParallelism() - 1)), { retryAfter, of: 'hashes of passwords' });
const inTurn = <T>(work: () => Promise<T>): Promise<T> => turns.run('hash', work);

/** argon2id of a password. Throws 503 where so many are hashed that it would wait for more than five seconds. */
export const hashPassword = (password: string) => inTurn(() => hash(password.normalize('NFKC'), cost));

// The hash of nothing that anybody typed: an unknown address costs as much time as a wrong password.
const nobody = hashPassword(`nobody ${Math.random()}`);

/** Whether the password is the one; takes as long when there is none to compare with. Throws 503 as `hashPassword`. */
export async function verifyPassword(stored: string | null | undefined, password: string): Promise<boolean> {
  const against = stored ?? (await nobody);
  const matches = await inTurn(() => verify(against, password.normalize('NFKC')));
  return matches && stored !== null && stored !== undefined;
}

/** What is kept of a random secret: its SHA-256. */
export const digest = (secret: string) => hashOf('sha256', secret, 'hex');

/** A random secret of 256 bits. */
export const randomSecret = (clock: Clock) => clock.bytes(32).toString('base64url');

const checksum = (text: string) => crc32(text).toString(36).padStart(7, '0');

/** A new API key: prefix, secret, checksum (so that a typo is told from a revoked key without a look-up). */
export function newKey(clock: Clock): string {
  const body = `svc_${clock.bytes(32).toString('hex')}`;
  return body + checksum(body);
}

/** Whether a text is formed like one of our keys, checksum included. */
export function isKey(text: string): boolean {
  const body = text.slice(0, -7);
  return /^svc_[0-9a-f]{64}$/.test(body) && text.slice(-7) === checksum(body);
}
