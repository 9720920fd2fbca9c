import { useRef } from 'react';
import { errorOf } from '../client/errors.js';
import { once } from '../client/rest.js';

/** Whether nobody knows yet what became of a write. */
const isOpen = (error: unknown) => ['no_answer', 'send_in_progress', 'unavailable'].includes(errorOf(error).code);

type Attempt<T> = (context: { headers: Record<string, string> }) => Promise<T>;

/**
 * Writes that happen once, however often they are sent: who presses the button again because no answer came sends the same
 * `Idempotency-Key`. What says something else (`input`) is another write, and so is the same again once one is done.
 */
export function useOnce() {
  const headers = useRef(new Map<string, ReturnType<typeof once>>());
  return async function send<T>(input: unknown, attempt: Attempt<T>): Promise<T> {
    const known = headers.current;
    const text = JSON.stringify(input);
    const own = known.get(text) ?? once();
    known.set(text, own);
    try {
      const done = await attempt({ headers: own });
      known.clear();
      return done;
    } catch (error) {
      if (!isOpen(error)) known.delete(text);
      throw error;
    }
  };
}
