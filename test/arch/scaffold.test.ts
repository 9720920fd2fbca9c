import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const templates = '.ci/new';
/** The folders that the files made of templates are in: those of tests, and all others. */
const [ofTests, ofModule] = ['test/contract', 'src/modules/widgets'];

interface Import {
  name: string;
  from: string;
}

/** What a template takes from files that are there already. */
function importsOf(template: string): Import[] {
  const text = readFileSync(join(templates, template), 'utf8');
  const folder = /^(test|samples)/.test(template) ? ofTests : ofModule;
  const all = [...text.matchAll(/import (?:type )?\{ ([^}]*) \} from '(\.\.\/[^'<]*)\.js';/g)];
  return all.flatMap(([, names, path]) =>
    names!.split(', ').map((one) => ({ name: one.replace(/^type /, ''), from: join(folder, `${path}.ts`) })),
  );
}

/** What a file exports, with what it passes on of others as a whole. */
function exportsOf(file: string): string {
  const text = readFileSync(file, 'utf8');
  const others = [...text.matchAll(/export \* from '([^']*)\.js'/g)].map(([, path]) => exportsOf(join(file, '..', `${path}.ts`)));
  return [...(text.match(/^export .*/gm) ?? []), ...others].join('\n');
}

describe('the templates of a new entity', () => {
  it('take what the code exports', () => {
    const all = readdirSync(templates).flatMap(importsOf);
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter(({ name, from }) => !new RegExp(`\\b${name}\\b`).test(exportsOf(from)))).toEqual([]);
  });
});
