import { hash as hashOf } from 'node:crypto';
import { type DocumentNode, type GraphQLSchema, print } from 'graphql';
import { LRUCache } from 'lru-cache';
import { printerOf } from '../kernel/lists/printer.js';
import { compile, type Operation } from '../kernel/operations/operation.js';

/**
 * Compiled documents, the most used ones kept: compiling costs more than running. Weighed by their texts, so that nobody fills the memory
 * with large ones.
 */
export class Documents {
  readonly #cache = new LRUCache<string, Operation>({ max: 1000, maxSize: 2_000_000, maxEntrySize: 20_000 });

  constructor(private readonly schema: GraphQLSchema) {}

  /** The compiled form of a valid document. `key` is its text, where the caller has it. */
  get(document: DocumentNode, operationName?: string | null, key = print(document)): Operation {
    const hash = hashOf('sha1', `${operationName ?? ''}\n${key}`, 'base64');
    const known = this.#cache.get(hash);
    if (known) return known;
    const operation = compile(this.schema, document, { operationName, id: hash, printer: printerOf(this.schema, document, operationName) });
    this.#cache.set(hash, operation, { size: key.length + 1 });
    return operation;
  }
}
