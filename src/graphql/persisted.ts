import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { badRequest, check } from '../kernel/base/errors.js';

/** A request as its transport brought it: the text of a document, its hash, or both. */
export interface DocumentRequest {
  query?: unknown;
  /** `sha256:` and the hash, or the hash alone. */
  documentId?: unknown;
  extensions?: Record<string, unknown> | null;
}

const sha256 = /^[0-9a-f]{64}$/;
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** Longer documents are sent whole each time; in all as many characters as this are kept, of callers and of strangers each. */
const longest = 100_000;
const mostKept = 4_000_000;
const texts = () =>
  new LRUCache<string, string>({ maxSize: mostKept, maxEntrySize: longest + 1, sizeCalculation: (text) => text.length + 1 });

export interface DocumentSettings {
  /** The file of the documents that are known beforehand. */
  trustedDocuments?: string;
  /** Whether nothing else is served. */
  trustedOnly?: boolean;
}

/**
 * Documents by the SHA-256 of their texts: those of the list that the server was started with, and those that clients sent with
 * their hash before (automatic persisted queries, kept in this process). A hash comes in `extensions.persistedQuery` or in
 * `documentId`.
 */
export class PersistedDocuments {
  readonly #trusted: ReadonlyMap<string, string>;
  readonly #only: boolean;
  // Whoever has no credentials cannot displace what callers sent.
  readonly #sent = { callers: texts(), strangers: texts() };

  constructor({ trustedDocuments, trustedOnly = false }: DocumentSettings) {
    this.#trusted = trustedDocuments === undefined ? new Map() : readDocuments(trustedDocuments);
    this.#only = trustedOnly;
  }

  /**
   * The text of the document that is asked for. A `query` that is no text is answered as it is: whoever runs it refuses it. Throws 400
   * for a hash that is none or another document's, PERSISTED_QUERY_NOT_FOUND for one that is not known: then the client sends the text
   * with it.
   */
  textOf(asked: DocumentRequest, isCaller: boolean): unknown {
    const hash = hashIn(asked);
    const { query } = asked;
    if (query !== undefined && query !== null && query !== '') {
      if (typeof query !== 'string') return query;
      return this.#taken(query, hash, isCaller);
    }
    if (hash === undefined) return query;
    const known = this.#trusted.get(hash) ?? this.#sent.callers.get(hash) ?? this.#sent.strangers.get(hash);
    if (known === undefined) throw notFound();
    return known;
  }

  #taken(query: string, hash: string | undefined, isCaller: boolean): string {
    if (hash === undefined && !this.#only) return query;
    const own = hashOf(query);
    check(hash === undefined || hash === own, () => badRequest('The hash is not the SHA-256 of the document'));
    if (this.#only)
      check(this.#trusted.has(own), () => badRequest('Only documents of the list are served here (GRAPHQL_TRUSTED_DOCUMENTS)'));
    else if (!this.#trusted.has(own)) this.#sent[isCaller ? 'callers' : 'strangers'].set(own, query);
    return query;
  }
}

/** Extensions without the hash: Apollo would look the document up by itself where it saw one. What is no object stays for it to refuse. */
export function withoutHash<T>(extensions: T): T {
  if (typeof extensions !== 'object' || extensions === null || Array.isArray(extensions)) return extensions;
  const { persistedQuery: _hash, ...others } = extensions as Record<string, unknown>;
  return others as T;
}

/** The hash that a request names. Throws 400 where it is none. */
function hashIn({ documentId, extensions }: DocumentRequest): string | undefined {
  if (documentId !== undefined && documentId !== null) {
    const hash = typeof documentId === 'string' ? documentId.replace(/^sha256:/, '').toLowerCase() : '';
    check(sha256.test(hash), () => badRequest('documentId must be the SHA-256 of a document in hexadecimal digits'));
    return hash;
  }
  const persisted = extensions?.persistedQuery;
  if (persisted === undefined || persisted === null) return undefined;
  const { version, sha256Hash } = persisted as { version?: unknown; sha256Hash?: unknown };
  const hash = typeof sha256Hash === 'string' ? sha256Hash.toLowerCase() : '';
  check(version === 1 && sha256.test(hash), () =>
    badRequest('extensions.persistedQuery must have version 1 and the SHA-256 of a document as sha256Hash'),
  );
  return hash;
}

/** As every client of persisted queries knows it: by its message and its code. */
const notFound = () => new GraphQLError('PersistedQueryNotFound', { extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', status: 404 } });

/**
 * The texts of a file by their own hashes: an object of texts under ids (graphql-codegen, Relay), or Apollo's manifest of
 * operations. Throws, so that the server does not start, where it is neither.
 */
function readDocuments(path: string): Map<string, string> {
  const wrong = (why: string) => new Error(`GRAPHQL_TRUSTED_DOCUMENTS: ${path} ${why}`);
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw wrong(`cannot be read as JSON: ${(error as Error).message}`);
  }
  if (typeof content !== 'object' || content === null) throw wrong('is no object of documents');
  const { operations } = content as { operations?: { body: unknown }[] };
  const found = Array.isArray(operations) ? operations.map((operation) => operation?.body) : Object.values(content);
  for (const text of found) if (typeof text !== 'string') throw wrong('has a document that is no text');
  return new Map((found as string[]).map((text) => [hashOf(text), text]));
}
