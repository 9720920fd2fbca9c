/** What the client package is made from: a file of its own, so that the look whether it changed loads nothing of what makes it. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A path as it is on every system: what is told by a path, or hashed with it, is told alike. */
export const withSlashes = (path) => path.replaceAll('\\', '/');

const pages = 'src/pages';
const isDocument = (name) => name.endsWith('.graphql');
export const pageDocuments = existsSync(pages)
  ? readdirSync(pages)
      .filter(isDocument)
      .sort()
      .map((name) => withSlashes(join(pages, name)))
  : [];

/** The operations of `crm-server/documents`. */
export const commonDocuments = 'src/client/documents.graphql';

export const clientSources = [
  ...['schema/openapi.json', 'schema/schema.graphql', '.ci/client.mjs', '.ci/client.sources.mjs'],
  ...[commonDocuments, ...pageDocuments],
].filter(existsSync);
