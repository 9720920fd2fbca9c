/** What the client package is made from: a file of its own, so that the look whether it changed loads nothing of what makes it. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const pages = 'src/pages';
const isDocument = (name) => name.endsWith('.graphql');
export const pageDocuments = existsSync(pages)
  ? readdirSync(pages)
      .filter(isDocument)
      .sort()
      .map((name) => join(pages, name))
  : [];

/** The operations of `crm-server/documents`. */
export const commonDocuments = 'src/client/documents.graphql';

export const clientSources = [
  ...['schema/openapi.json', 'schema/schema.graphql', '.ci/client.mjs', '.ci/client.sources.mjs'],
  ...[commonDocuments, ...pageDocuments],
].filter(existsSync);
