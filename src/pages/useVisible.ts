import { useSyncExternalStore } from 'react';

const subscribe = (listener: () => void) => {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
};

/** Whether somebody may see the page: not in a tab behind another one. */
export const useVisible = () => useSyncExternalStore(subscribe, () => document.visibilityState === 'visible');
