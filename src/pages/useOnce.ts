import { useRef } from 'react';
import { errorOf } from '../client/errors.js';
import { once } from '../client/rest.js';

// `crypto.randomUUID` is not there on pages that come by plain http from another machine.
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Whether nobody knows yet what became of a write. */
const isOpen = (error: unknown) => ['no_answer', 'send_in_progress', 'unavailable'].includes(errorOf(error).code);

/**
 * Writes that happen once, however often they are sent: who presses the button again because no answer came sends the same
 * `Idempotency-Key`. What was written differently since is another write: `renew`.
 */
export function useOnce() {
  const key = useRef<string | undefined>(undefined);
  const renew = () => {
    key.current = undefined;
  };
  async function send<T>(attempt: (context: { headers: Record<string, string> }) => Promise<T>): Promise<T> {
    key.current ??= newKey();
    try {
      const done = await attempt({ headers: once(key.current) });
      renew();
      return done;
    } catch (error) {
      if (!isOpen(error)) renew();
      throw error;
    }
  }
  return { send, renew };
}
