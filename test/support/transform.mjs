import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { parseSync } from '@swc/core';
import swc from '@swc/jest';

const root = new URL('../..', import.meta.url);
const sources = fileURLToPath(new URL('src/', root));
const require = createRequire(import.meta.url);
const typescript = swc.createTransformer();

/**
 * What is loaded outside Jest in a file's place: the build of a source, and the one package whose objects tests and server hand each
 * other. The sources of the pages have no build of their own: they are one file.
 */
function builtFrom(path) {
  if (path.startsWith(`${sources}pages/`)) return undefined;
  if (path.startsWith(sources)) return new URL(`dist/src/${path.slice(sources.length).replace(/\.ts$/, '.js')}`, root).href;
  return path.endsWith('/node_modules/graphql/index.mjs') ? 'graphql' : undefined;
}

/** The names that a built file exports. */
function exportsOf(url) {
  const { body } = parseSync(readFileSync(new URL(url), 'utf8'), { syntax: 'ecmascript', target: 'es2022' });
  return body.flatMap(({ type, declaration, specifiers, source }) => {
    if (type === 'ExportAllDeclaration') return exportsOf(new URL(source.value, url));
    if (type === 'ExportNamedDeclaration') return specifiers.map(({ name, exported, orig }) => (name ?? exported ?? orig).value);
    if (type !== 'ExportDeclaration') return [];
    return declaration.identifier ? [declaration.identifier.value] : declaration.declarations.map(({ id }) => id.value);
  });
}

/** A module that hands on what another one exports that was loaded outside Jest. */
function handOn(specifier) {
  const names = specifier.startsWith('file:') ? exportsOf(specifier) : Object.keys(require(specifier));
  return `export const { ${names.join(', ')} } = await importBuilt('${specifier}');`;
}

export default {
  process(source, path, options) {
    const specifier = builtFrom(path);
    return specifier ? { code: handOn(specifier) } : typescript.process(source, path, options);
  },
  getCacheKey(source, path, options) {
    const specifier = builtFrom(path);
    return specifier ? createHash('sha1').update(handOn(specifier)).digest('hex') : typescript.getCacheKey(source, path, options);
  },
};
