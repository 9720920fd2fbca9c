import { registerEnumType } from 'type-graphql';
import { nameOf } from './enums.js';

const declared: Record<string, string> = {};

/** The domains that a key may be held to: those that record types and resolvers name, so it is whole once all modules are loaded. */
export const Scope: Readonly<Record<string, string>> = declared;
registerEnumType(declared, { name: 'ApiKeyScope', description: 'The domains that a key may be held to' });

/** Kept in alphabetical order, so that published documents do not depend on the order in which modules are loaded. */
export function declareScope(scope: string): void {
  const all = new Set([...Object.values(declared), scope]);
  for (const name of Object.keys(declared)) delete declared[name];
  for (const word of [...all].sort()) declared[nameOf(word)] = word;
}
