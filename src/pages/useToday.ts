import { useSyncExternalStore } from 'react';

/** How often it is looked whether the day is over. A timer until midnight would sleep with the machine. */
const lookMs = 10_000;

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, lookMs);
  document.addEventListener('visibilitychange', listener);
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', listener);
  };
}

const today = () => new Date().setHours(0, 0, 0, 0);

/** When today began, by the clocks of the browser, in milliseconds. Another day draws anew what shows it. */
export const useToday = () => useSyncExternalStore(subscribe, today);
