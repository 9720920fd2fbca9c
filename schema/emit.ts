import 'reflect-metadata';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { contract } from '../src/app.js';
import { documentFaults } from '../src/rest/endpoints.js';
import { localBase, postmanCollection } from '../src/rest/postman.js';

/** The directory of package.json, whether this runs from the sources or from dist/. */
function projectRoot(from = dirname(fileURLToPath(import.meta.url))): string {
  if (existsSync(join(from, 'package.json'))) return from;
  if (dirname(from) === from) throw new Error('There is no package.json above this file');
  return projectRoot(dirname(from));
}

/** The published contract as the files of schema/, by name. */
export function publishedFiles(): Record<string, string> {
  const { schema, endpoints, openapi } = contract();
  const faults = documentFaults(schema, endpoints);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return {
    'schema.graphql': `${printSchema(lexicographicSortSchema(schema))}\n`,
    'openapi.json': `${JSON.stringify(openapi, null, 2)}\n`,
    'postman.json': `${JSON.stringify(postmanCollection(openapi, localBase), null, 2)}\n`,
  };
}

/** Writes the published contract, or with --check tells which committed file is out of date and exits with 1. */
function main(check: boolean) {
  const folder = join(projectRoot(), 'schema');
  for (const [name, text] of Object.entries(publishedFiles())) {
    const path = join(folder, name);
    if (!check) writeFileSync(path, text);
    else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
      process.exitCode = 1;
      console.error(`schema/${name} is not what the code says; run "npm run schema" and commit it`);
    }
  }
}

if (process.argv[1] && fileURLToPath(import.meta.url) === realpathSync(process.argv[1])) main(process.argv.includes('--check'));
