import { useRef } from 'react';
import { errorOf } from '../client/errors.js';
import { once } from '../client/rest.js';

// `crypto.randomUUID` is not there on pages that come by plain http from another machine.
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Whether nobody knows yet what became of a write. */
const isOpen = (error: unknown) => ['no_answer', 'send_in_progress', 'unavailable'].includes(errorOf(error).code);

type Attempt<T> = (context: { headers: Record<string, string> }) => Promise<T>;

/**
 * Writes that happen once, however often they are sent: who presses the button again because no answer came sends the same
 * `Idempotency-Key`. What says something else (`input`) is another write, and so is the same again once one is done.
 */
export function useOnce() {
  const keys = useRef(new Map<string, string>());
  return async function send<T>(input: unknown, attempt: Attempt<T>): Promise<T> {
    const known = keys.current;
    const text = JSON.stringify(input);
    const key = known.get(text) ?? newKey();
    known.set(text, key);
    try {
      const done = await attempt({ headers: once(key) });
      known.clear();
      return done;
    } catch (error) {
      if (!isOpen(error)) known.delete(text);
      throw error;
    }
  };
}
