import type { DocumentNode, GraphQLEnumType } from 'graphql';

/** GraphQL's name of a word that it cannot write: read-write → read_write. */
export type NameOf<W extends string> = W extends `${infer Head}-${infer Tail}` ? `${Head}_${NameOf<Tail>}` : W;

export const nameOf = (word: string) => word.replaceAll('-', '_');

/** Whether REST writes some of its words with a hyphen, where GraphQL has an underscore. */
export const isRenamed = (type: GraphQLEnumType): boolean =>
  type.getValues().some(({ name, value }) => name !== value && name === nameOf(String(value)));

/** The words of an enumeration, as REST writes them. */
export const wordsOf = (type: GraphQLEnumType): string[] =>
  type.getValues().map(({ name, value }) => (isRenamed(type) ? String(value) : name));

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
