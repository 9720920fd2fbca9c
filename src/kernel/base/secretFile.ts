import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from './clock.js';
import type { Config } from './config.js';

/** The first line of a file of the data directory; undefined when there is none. */
export function readSecret(dataDir: string, name: string): string | undefined {
  const file = join(dataDir, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** Keeps a secret in the data directory for its owner's eyes only; whole or not at all, whenever the process is killed. */
export function writeSecret(dataDir: string, name: string, secret: string): void {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, name);
  writeFileSync(`${file}.new`, `${secret}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/**
 * The key that encrypts vendor keys and signs links: SECRET_KEY, else a random one that stays with the embedded database.
 * Call it when the database is open: its lock makes this process the only one in the data directory.
 */
export function secretKeyOf(config: Config, clock: Clock): string {
  if (config.secretKey) return config.secretKey;
  const random = () => clock.bytes(32).toString('base64url');
  if (config.dataDir === ':memory:') return random();
  const kept = readSecret(config.dataDir, 'secret.key');
  if (kept && kept.length >= 32) return kept;
  if (kept !== undefined)
    throw new Error(`${join(config.dataDir, 'secret.key')} is damaged: restore it, what it encrypted is lost without it`);
  const made = random();
  writeSecret(config.dataDir, 'secret.key', made);
  return made;
}
