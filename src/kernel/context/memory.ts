import { LRUCache } from 'lru-cache';
import { jsonSize } from '../base/jsonText.js';

/** What is read of an account together with its version, which is another one after every change of it. */
export interface Versioned {
  readonly version: string;
}

/** What a process read last, by account and name. */
export type Memory = LRUCache<string, Versioned>;

/** About how many characters are remembered. */
const mostCharacters = 8_000_000;

export const memory = (): Memory => new LRUCache({ maxSize: mostCharacters, sizeCalculation: (value) => jsonSize(value) });
