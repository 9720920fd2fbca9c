import type { DocumentNode, GraphQLEnumType } from 'graphql';
import { registerEnumType } from 'type-graphql';

/** GraphQL's name of a word that it cannot write: read-write → read_write. */
export type NameOf<W extends string> = W extends `${infer Head}-${infer Tail}` ? `${Head}_${NameOf<Tail>}` : W;

export const nameOf = (word: string) => word.replaceAll('-', '_');

/** Whether REST writes some of its words with a hyphen, where GraphQL has an underscore. */
export const isRenamed = (type: GraphQLEnumType): boolean =>
  type.getValues().some(({ name, value }) => name !== value && name === nameOf(String(value)));

/**
 * An enumeration that GraphQL names and REST sends as its words; a hyphen is an underscore to GraphQL. Each word says what it means,
 * where that does not follow from what it stands for: the field of a sort key.
 */
export function oneOf<const T extends string>(
  name: string,
  members: readonly T[] | Readonly<Record<T, string>>,
  description?: string,
): { [K in T as NameOf<K>]: K } {
  const [words, meanings] = isList(members) ? [members, {}] : [Object.keys(members) as T[], members as Record<string, string>];
  const object = Object.fromEntries(words.map((word) => [nameOf(word), word])) as { [K in T as NameOf<K>]: K };
  const valuesConfig = Object.fromEntries(Object.entries(meanings).map(([word, meaning]) => [nameOf(word), { description: meaning }]));
  registerEnumType<Record<string, string>>(object, { name, description, valuesConfig });
  return object;
}

const isList = <T extends string>(members: readonly T[] | object): members is readonly T[] => Array.isArray(members);

const words = new WeakMap<GraphQLEnumType, readonly string[]>();

/** The words of an enumeration, as REST writes them. */
export function wordsOf(type: GraphQLEnumType): readonly string[] {
  const known = words.get(type);
  if (known) return known;
  const member = isRenamed(type) ? 'value' : 'name';
  const made = type.getValues().map((one) => String(one[member]));
  words.set(type, made);
  return made;
}

const inWords = new WeakSet<DocumentNode>();

/** Has a document answer the words of enumerations where GraphQL names them otherwise (read-write, read_write). */
export function answerInWords(document: DocumentNode): DocumentNode {
  inWords.add(document);
  return document;
}

/** Whether a document answers the words of enumerations. */
export const isInWords = (document: DocumentNode): boolean => inWords.has(document);

/** The JSON schema of one of them. The words are read when they are asked for: the scopes of keys grow while modules are loaded. */
export const schemaOf = (members: Readonly<Record<string, string>>) => ({
  type: 'string',
  get enum() {
    return Object.values(members);
  },
});
