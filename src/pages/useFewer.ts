import { useCallback, useState } from 'react';
import { errorOf } from '../client/errors.js';

/**
 * How many records of a list are asked for, and what is called with what the list failed by: half as many are asked for from then on
 * where they are too large for one answer of the server.
 */
export function useFewer(most: number): [first: number, failed: (error: unknown) => void] {
  const [first, ask] = useState(most);
  const failed = useCallback((error: unknown) => {
    if (errorOf(error).members?.limit === 'bytes') ask((before) => Math.max(1, Math.floor(before / 2)));
  }, []);
  return [first, failed];
}
