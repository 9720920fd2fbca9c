/** `npm run codegen`: types of the operations that the tests send, from the published schema. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import { parse } from 'graphql';

/** codegen.yml, which is JSON but for comments and last commas. */
const settings = JSON.parse(
  readFileSync('codegen.yml', 'utf8')
    .replace(/^#.*$/gm, '')
    .replace(/,(?=\s*[}\]])/g, ''),
);
const { schema, documents: folder, output, config } = settings;

const parsed = (file) => parse(readFileSync(file, 'utf8'));
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.graphql'));
const documents = files.sort().map((name) => ({ location: join(folder, name), document: parsed(join(folder, name)) }));
const text = await codegen({
  filename: output,
  schema: parsed(schema),
  documents,
  config,
  plugins: [{ operations: {} }],
  pluginMap: { operations },
});
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, text);
