import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const templates = '.ci/new';

/** The names that a template takes from the kernel and from other modules, with the files that they are to be in. */
function importsOf(template: string): { name: string; from: string }[] {
  const text = readFileSync(join(templates, template), 'utf8');
  const all = [...text.matchAll(/import (?:type )?\{ ([^}]*) \} from '(?:\.\.\/)+([^']*)\.js';/g)];
  return all.flatMap(([, names, path]) =>
    names!.split(', ').map((one) => ({
      name: one.replace(/^type /, ''),
      from: `${path!.startsWith('support') ? 'test' : path!.startsWith('src') ? '.' : 'src'}/${path}.ts`,
    })),
  );
}

describe('the templates of a new entity', () => {
  it('take what the code exports', () => {
    const all = readdirSync(templates)
      .flatMap(importsOf)
      .filter(({ from }) => !from.includes('<'));
    expect(all.length).toBeGreaterThan(20);
    const plain = (from: string) => (existsSync(from) ? from : from.replace('src/', 'src/modules/'));
    const isExported = ({ name, from }: { name: string; from: string }) => {
      const text = existsSync(plain(from)) ? readFileSync(plain(from), 'utf8') : '';
      return (
        new RegExp(`export (?:abstract |async |default )?(?:const|function|class|interface|type) ${name}\\b|export .*\\b${name}\\b`).test(
          text,
        ) || /export \* from/.test(text)
      );
    };
    expect(all.filter((one) => !isExported(one))).toEqual([]);
  });
});
