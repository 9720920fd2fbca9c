import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { Clock } from './clock.js';

/** What holds the server's secret key, and those that it had before. */
interface Keeper {
  config: { secretKey: string; previousSecretKeys?: readonly string[] };
}

const keys = new Map<string, Buffer>();

/** The key of a purpose, made once: purposes are words of ours, and making one takes longer than what is done with it. */
function keyFor(secret: string, purpose: string): Buffer {
  const place = `${purpose}\0${secret}`;
  const key = keys.get(place) ?? Buffer.from(hkdfSync('sha256', secret, 'crm', purpose, 32));
  keys.set(place, key);
  return key;
}

/** Every key by which something may have been sealed or signed, the present one first. */
const keysOf = ({ config: { secretKey, previousSecretKeys = [] } }: Keeper) => [secretKey, ...previousSecretKeys];

const names = new Map<string, string>();

/** Names a key without telling anything of it. */
function nameOf(secret: string): string {
  const name = names.get(secret) ?? keyFor(secret, 'name').subarray(0, 6).toString('base64url');
  names.set(secret, name);
  return name;
}

/** What was sealed cannot be opened: it was changed or moved, or its key is none that the server has. */
export class Unreadable extends Error {
  constructor() {
    super('A sealed value cannot be read: it was changed or moved, or its key is neither SECRET_KEY nor in SECRET_KEY_PREVIOUS');
  }
}

/** What everything begins with that is sealed by the present key, where there are others; what begins otherwise may be another's. */
export const sealOf = (app: Keeper): string => `v2.${nameOf(app.config.secretKey)}.`;

/** Where there is one key it needs no name. The version before, which may still run, opens nothing that has one. */
const beginningOf = (app: Keeper) => (keysOf(app).length > 1 ? sealOf(app) : 'v1.');

/**
 * Encrypts a secret for keeping (AES-256-GCM). `place` names where it is kept (table, column, row): a value moved to
 * another place does not open there.
 */
export function seal(app: Keeper & { clock: Clock }, purpose: string, place: string, text: string): string {
  const nonce = app.clock.bytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFor(app.config.secretKey, purpose), nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return beginningOf(app) + [nonce, body, cipher.getAuthTag()].map((part) => part.toString('base64url')).join('.');
}

function open(key: Buffer, place: string, [nonce, body, tag]: readonly Buffer[]): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce!).setAAD(Buffer.from(place)).setAuthTag(tag!);
    return Buffer.concat([decipher.update(body!), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Opens what `seal` closed, by a key of before too. Throws `Unreadable` when it was changed or moved, or the key is gone. */
export function unseal(app: Keeper, purpose: string, place: string, sealed: string): string {
  const [version, ...rest] = sealed.split('.');
  // The first version did not name its key.
  const name = version === 'v1' ? undefined : rest.shift();
  const parts = rest.map((part) => Buffer.from(part, 'base64url'));
  for (const secret of keysOf(app)) {
    if (name !== undefined && name !== nameOf(secret)) continue;
    const text = open(keyFor(secret, purpose), place, parts);
    if (text !== undefined) return text;
  }
  throw new Unreadable();
}

const signedBy = (secret: string, purpose: string, text: string) =>
  createHmac('sha256', keyFor(secret, purpose)).update(text).digest('base64url');

/** A keyed hash for links and low-entropy secrets. */
export const sign = (app: Keeper, purpose: string, text: string): string => signedBy(app.config.secretKey, purpose, text);

/** What `sign` answers, and what it answered under each key of before. */
export const signatures = (app: Keeper, purpose: string, text: string): [string, ...string[]] =>
  keysOf(app).map((secret) => signedBy(secret, purpose, text)) as [string, ...string[]];

/** Whether one of the values is the given one; how long that takes tells nothing of them. */
export const isOneOf = (values: readonly Buffer[], given: Buffer): boolean =>
  values.filter((value) => value.length === given.length && timingSafeEqual(value, given)).length > 0;
