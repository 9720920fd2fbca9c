import { errorOf } from '../client/errors.js';
import { wordsOf } from './parts.js';
import { here } from './route.js';
import { unkept, useGone } from './unkept.js';

/** How much of what somebody wrote is told again, in characters. */
const most = 80;

/** The beginning of what somebody wrote, in quotation marks. */
export function quoted(text: string): string {
  const signs = [...text];
  return `“${signs.length > most ? `${signs.slice(0, most).join('')}…` : text}”`;
}

/** Whether nobody knows yet what became of a write. */
export const isOpen = (error: unknown) => ['no_answer', 'send_in_progress', 'unavailable'].includes(errorOf(error).code);

/**
 * For a write that begins now: tells what became of it on the page that its writer has gone to, with the way back. Nobody is told in the
 * session of somebody else.
 */
export function teller(path: string) {
  const whose = unkept.whose();
  return (title: string, error: unknown, why = wordsOf(error)) => {
    const verb = isOpen(error) ? 'may not have been kept' : 'was not kept';
    if (whose === unkept.whose()) unkept.add(`${title} ${verb}: ${why}`, path);
  };
}

/**
 * Sends writes of a component. What is refused is thrown on; where the component is gone by then, nobody would see it there: it is told
 * on the page that its writer has gone to, with the way back.
 */
export function useTold() {
  const isGone = useGone();
  return async function send<T>(title: string, attempt: () => Promise<T>): Promise<T> {
    const tell = teller(here());
    try {
      return await attempt();
    } catch (error) {
      if (isGone()) tell(title, error);
      throw error;
    }
  };
}
