import type { DocumentNode, GraphQLEnumType } from 'graphql';

/** GraphQL's name of a word that it cannot write: read-write → read_write. */
export type NameOf<W extends string> = W extends `${infer Head}-${infer Tail}` ? `${Head}_${NameOf<Tail>}` : W;

export const nameOf = (word: string) => word.replaceAll('-', '_');

/** Whether REST writes some of its words with a hyphen, where GraphQL has an underscore. */
export const isRenamed = (type: GraphQLEnumType): boolean =>
  type.getValues().some(({ name, value }) => name !== value && name === nameOf(String(value)));

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
