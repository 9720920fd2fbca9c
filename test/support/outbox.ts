import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Loose } from './client.js';

/** Where simulators leave what they would send: a server, or its configuration. */
export type Outbox = { outboxDir: string };

/** What the simulators have taken, by the names of the files. A message whose day is over may go while the others are read. */
export function messagesLeft({ outboxDir }: Outbox): Loose[] {
  const names = readdirSync(outboxDir).filter((name) => name.endsWith('.json'));
  return names.sort().flatMap((name) => {
    try {
      return [JSON.parse(readFileSync(join(outboxDir, name), 'utf8')) as Loose];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}
