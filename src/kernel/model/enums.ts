import type { GraphQLEnumType } from 'graphql';

/** GraphQL's name of a word that it cannot write: read-write → read_write. */
export type NameOf<W extends string> = W extends `${infer Head}-${infer Tail}` ? `${Head}_${NameOf<Tail>}` : W;

export const nameOf = (word: string) => word.replaceAll('-', '_');

/** Whether REST writes some of its words with a hyphen, where GraphQL has an underscore. */
export const isRenamed = (type: GraphQLEnumType): boolean =>
  type.getValues().some(({ name, value }) => name !== value && name === nameOf(String(value)));

/** The words of an enumeration, as REST writes them. */
export const wordsOf = (type: GraphQLEnumType): string[] =>
  type.getValues().map(({ name, value }) => (isRenamed(type) ? String(value) : name));
