import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { Clock } from './clock.js';

const version = 'v1';

/** What holds the server's secret key. */
interface Keeper {
  config: { secretKey: string };
}

const keyFor = (secret: string, purpose: string) => Buffer.from(hkdfSync('sha256', secret, 'crm', purpose, 32));

/**
 * Encrypts a secret for keeping (AES-256-GCM). `place` names where it is kept (table, column, row): a value moved to
 * another place does not open there.
 */
export function seal(app: Keeper & { clock: Clock }, purpose: string, place: string, text: string): string {
  const nonce = app.clock.bytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFor(app.config.secretKey, purpose), nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return [version, nonce.toString('base64url'), body.toString('base64url'), cipher.getAuthTag().toString('base64url')].join('.');
}

/** Opens what `seal` closed. Throws when it was changed or moved. */
export function unseal(app: Keeper, purpose: string, place: string, sealed: string): string {
  const [, nonce = '', body = '', tag = ''] = sealed.split('.');
  const decipher = createDecipheriv('aes-256-gcm', keyFor(app.config.secretKey, purpose), Buffer.from(nonce, 'base64url'))
    .setAAD(Buffer.from(place))
    .setAuthTag(Buffer.from(tag, 'base64url'));
  return Buffer.concat([decipher.update(Buffer.from(body, 'base64url')), decipher.final()]).toString('utf8');
}

/** A keyed hash for links and low-entropy secrets. */
export const sign = (app: Keeper, purpose: string, text: string): string =>
  createHmac('sha256', keyFor(app.config.secretKey, purpose)).update(text).digest('base64url');
