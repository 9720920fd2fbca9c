import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Loose } from './client.js';

/** The text messages that the simulator has taken for a number, the oldest first. */
export function messagesTo({ outboxDir }: { outboxDir: string }, number: string): Loose[] {
  const files = readdirSync(outboxDir)
    .filter((name) => name.endsWith('.json'))
    .sort();
  const all = files.map((name) => JSON.parse(readFileSync(join(outboxDir, name), 'utf8')) as Loose);
  return all.filter(({ channel, to }) => channel === 'sms' && to === number);
}
