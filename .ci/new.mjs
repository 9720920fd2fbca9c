import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** `npm run new <noun> [plural]`: a new entity in the house shape, with one line in src/modules.ts. */
const [noun, given] = process.argv.slice(2);
const word = /^[a-z][a-zA-Z]*$/;
if (!word.test(noun ?? '') || (given && !word.test(given))) fail('usage: npm run new <noun> [plural]   (camelCase: "npm run new product")');

// As tableName has it (src/kernel/database/sql.ts), which knows the rule alone: people are kept in persons.
const regular = `${noun.replace(/([^aeiou])y$/, '$1ie')}s`;
const plural = given ?? regular;
const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const split = (text, by) => text.replace(/[A-Z]/g, (letter) => `${by}${letter.toLowerCase()}`);
const names = {
  noun,
  plural,
  Noun: upper(noun),
  Plural: upper(plural),
  table: split(regular, '_'),
  path: split(plural, '-'),
  event: split(noun, '_'),
  words: split(plural, ' '),
  Words: upper(split(plural, ' ')),
  aWord: `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${split(noun, ' ')}`,
  Word: upper(split(noun, ' ')),
};

/** Fills `<name>` in a template. */
const filled = (template) => template.replace(/<(\w+)>/g, (all, name) => names[name] ?? all);

const templates = join(import.meta.dirname, 'new');
const target = {
  'schema.prisma': `prisma/schema/${split(noun, '_')}.prisma`,
  'model.ts': `src/modules/${plural}/${noun}.model.ts`,
  'table.ts': `src/modules/${plural}/${noun}.table.ts`,
  'service.ts': `src/modules/${plural}/${noun}.service.ts`,
  'resolver.ts': `src/modules/${plural}/${noun}.resolver.ts`,
  'module.ts': `src/modules/${plural}/${plural}.module.ts`,
  'test.ts': `test/contract/${plural}.test.ts`,
  'samples.ts': `test/contract/samples.${plural}.ts`,
};

const taken = Object.values(target).filter((file) => existsSync(file));
if (taken.length > 0) fail(`There is ${taken.join(', ')} already`);

mkdirSync(`src/modules/${plural}`, { recursive: true });
for (const [template, file] of Object.entries(target)) {
  writeFileSync(file, filled(readFileSync(join(templates, `${template}.txt`), 'utf8')));
  console.log(`wrote    ${file}`);
}

/** Adds lines to a file of the house: each pair is what stands there, and what stands there then. */
function added(file, ...pairs) {
  let text = readFileSync(file, 'utf8');
  for (const [before, after] of pairs) {
    if (!before.test(text)) fail(`${file} has no place for the new line: ${before}`);
    text = text.replace(before, after);
  }
  writeFileSync(file, text);
  console.log(`added to ${file}`);
}

added('src/modules.ts', [/\];\n$/, `  (await import('./modules/${plural}/${plural}.module.js')).default,\n];\n`]);
added(
  'test/contract/samples.ts',
  [/(import \{ workSamples \})/, `import { ${noun}Samples } from './samples.${plural}.js';\n$1`],
  [/( {2}\.\.\.workSamples,\n)/, `$1  ...${noun}Samples,\n`],
);

const changed = ['test/contract/samples.ts'];
const code = [...Object.values(target).filter((file) => file.endsWith('.ts')), ...changed];
const { status, stderr } = spawnSync('node_modules/.bin/biome', ['check', '--write', ...code], { encoding: 'utf8' });
if (status !== 0) fail(stderr);

console.log(`
Next: make ${target['schema.prisma']} and ${target['model.ts']} say what ${names.aWord} is, then
  npm run migrate:new ${names.table}    writes the migration: read it before you keep it
  npm run schema                 writes the published contract
  npm run check && npm test`);

function fail(message) {
  console.error(message);
  process.exit(1);
}
