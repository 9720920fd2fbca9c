import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../kernel/base/clock.js';
import type { EmailVendor } from './email.js';

/** Writes each message as one JSON file, whole or not at all, in place of sending it. */
export function simulatedEmail(directory: string, from: string, clock: Clock): EmailVendor {
  return {
    async send(email) {
      const id = clock.id();
      await mkdir(directory, { recursive: true });
      const message = { id, channel: 'email', from, ...email, body: email.text, sentAt: clock.now().toISOString() };
      const path = join(directory, `${id}.json`);
      await writeFile(`${path}.part`, JSON.stringify(message, null, 2), { mode: 0o600 });
      await rename(`${path}.part`, path);
      return { id };
    },
    close: () => undefined,
  };
}
