import { useRef } from 'react';
import { once } from '../client/rest.js';
import { isOpen, useTold } from './useTold.js';

// `crypto.randomUUID` is not there on pages that come by plain http from another machine.
const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

type Attempt<T> = (context: { headers: Record<string, string> }) => Promise<T>;

/**
 * Writes that happen once, however often they are sent: who presses the button again because no answer came sends the same
 * `Idempotency-Key`. What says something else (`input`) is another write, and so is the same again once one is done. What has a `title`
 * is told under it where it is refused and its page was left.
 */
export function useOnce() {
  const keys = useRef(new Map<string, string>());
  const told = useTold();
  return async function send<T>(input: unknown, attempt: Attempt<T>, title?: string): Promise<T> {
    const known = keys.current;
    const text = JSON.stringify(input);
    const key = known.get(text) ?? newKey();
    known.set(text, key);
    try {
      const sent = () => attempt({ headers: once(key) });
      const done = await (title === undefined ? sent() : told(title, sent));
      known.clear();
      return done;
    } catch (error) {
      if (!isOpen(error)) known.delete(text);
      throw error;
    }
  };
}
