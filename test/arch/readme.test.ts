import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readme } from '../support/readme.js';

const documentsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const files = ['README.md', 'CONTRIBUTING.md', 'DECISIONS.md', ...documentsIn('docs'), ...documentsIn('docs/guide')];
const documents = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }));

describe('the documents', () => {
  it('explain every variable that the configuration reads', () => {
    const explained = readFileSync('docs/configuration.md', 'utf8') + readFileSync('test/bench/README.md', 'utf8');
    const names = [...readFileSync('src/kernel/base/environment.ts', 'utf8').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !explained.includes(`\`${name}\``))).toEqual([]);
  });

  it('name scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
    const called = documents.flatMap(({ text }) => [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name));
    expect(called.length).toBeGreaterThan(5);
    expect(called.filter((name) => !scripts[name])).toEqual([]);
  });

  it('name places that exist', () => {
    const places = [...readme.matchAll(/^\| `([\w./]+)`/gm)].map(([, place = '']) => place).filter((place) => place.includes('/'));
    expect(places.length).toBeGreaterThan(5);
    expect(places.filter((place) => !existsSync(place))).toEqual([]);
    const links = documents.flatMap(({ file, text }) =>
      [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, to = '']) => join(dirname(file), to)),
    );
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((link) => !existsSync(link))).toEqual([]);
  });
});
