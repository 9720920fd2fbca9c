type Given<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** An object with members of another: where one is optional there, it may be the first one's. */
type Combined<T, C> = Omit<T, keyof C> &
  Omit<C, keyof T> & { [K in keyof T & keyof C]: Partial<Pick<C, K>> extends Pick<C, K> ? T[K] | Exclude<C[K], undefined> : C[K] };

/**
 * A copy of an object with members of another: what `{ ...whole, ...changes }` is. Of a row with forty columns, to which others come, a
 * copy whose members are then set costs a fraction of what several objects that are put together do.
 */
export function withChanges<T extends object, C extends object>(whole: T, changes: C): Combined<T, C> {
  const copy = { ...whole } as Record<string, unknown>;
  for (const name of Object.keys(changes)) copy[name] = (changes as Record<string, unknown>)[name];
  return copy as Combined<T, C>;
}

/** A JSON value with the members of its objects in one order, whatever order they came in. */
export function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, inOneOrder(member)]));
}

/** A JSON value with each of its texts as a function makes it; the names of its members stay. */
export function withTexts(value: unknown, made: (text: string) => string): unknown {
  if (typeof value === 'string') return made(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, made));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withTexts(member, made)]));
}

/** The members of an object that are not null. */
export const withoutNulls = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as { [K in keyof T]: Exclude<T[K], null> };

/** The members of an input that are given: what is undefined keeps its value, or takes its default. */
export function defined<T extends object>(input: T): Given<T> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) if (value !== undefined) given[name] = value;
  return given as Given<T>;
}

/** A member that JSON may have and no object of ours: it would be its prototype. */
export const isPoison = (key: string, member: unknown) =>
  key === '__proto__' || (key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype'));

/** Such members, as messages call them. */
export const poison = 'a member called __proto__, or a constructor with a prototype';
