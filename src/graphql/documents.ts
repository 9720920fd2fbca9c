import { hash as hashOf } from 'node:crypto';
import { type DocumentNode, type GraphQLSchema, print } from 'graphql';
import { LRUCache } from 'lru-cache';
import { printerOf } from '../kernel/lists/printer.js';
import { countFields } from '../kernel/model/selections.js';
import { compile, type Operation } from '../kernel/operations/operation.js';

/** What a field weighs as much as, in characters of a text: its code takes some kilobytes. A document weighs no more than `mostWeight`. */
const fieldWeight = 40;
const mostWeight = 40_000;
/** A text that is as long is not kept. */
const longestText = 20_000;

/**
 * Compiled documents, the most used ones kept: compiling costs more than running. Weighed by their texts and by their fields with fragments
 * written out, of which a short text may have a thousand, so that nobody fills the memory with large ones.
 */
export class Documents {
  readonly #cache = new LRUCache<string, Operation>({ max: 1000, maxSize: 2_000_000, maxEntrySize: mostWeight });

  constructor(private readonly schema: GraphQLSchema) {}

  /** The compiled form of a valid document. `key` is its text, where the caller has it. */
  get(document: DocumentNode, operationName?: string | null, key = print(document)): Operation {
    const hash = hashOf('sha1', `${operationName ?? ''}\n${key}`, 'base64');
    const known = this.#cache.get(hash);
    if (known) return known;
    const operation = compile(this.schema, document, { operationName, id: hash, printer: printerOf(this.schema, document, operationName) });
    const size = Math.min(Math.max(key.length, fieldWeight * countFields(document), 1), mostWeight);
    if (key.length < longestText) this.#cache.set(hash, operation, { size });
    return operation;
  }
}
