/** `npm run codegen`: types of the operations that the tests send, from the published schema. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import { parse } from 'graphql';

const output = 'src/generated/operations.ts';
const config = {
  useTypeImports: true,
  enumsAsTypes: true,
  scalars: { DateTimeISO: 'string', JSONObject: 'Record<string, unknown>' },
};

const parsed = (file) => parse(readFileSync(file, 'utf8'));
const files = readdirSync('test', { recursive: true }).filter((name) => name.endsWith('.graphql'));
const documents = files.sort().map((name) => ({ location: join('test', name), document: parsed(join('test', name)) }));
const text = await codegen({
  filename: output,
  schema: parsed('schema/schema.graphql'),
  documents,
  config,
  plugins: [{ operations: {} }],
  pluginMap: { operations },
});
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, text);
