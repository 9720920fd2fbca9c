import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readme } from '../support/readme.js';

const documentsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const files = [
  'README.md',
  'CONTRIBUTING.md',
  'DECISIONS.md',
  ...documentsIn('docs'),
  ...documentsIn('docs/guide'),
  'test/bench/README.md',
];
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

  it('lead to headings that exist, and to each of the decisions', () => {
    const anchorOf = (heading: string) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'); // as GitHub makes them
    const anchorsIn = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
    const inside = ({ text }: { text: string }) => [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, to = '']) => to);
    for (const document of documents) expect(inside(document).filter((to) => !anchorsIn(document.text).includes(to))).toEqual([]);
    const decisions = documents.find(({ file }) => file === 'DECISIONS.md')!;
    expect(inside(decisions).toSorted()).toEqual(anchorsIn(decisions.text).slice(1).toSorted());
  });

  it('name files of the code that exist, by the whole path or the end of one', () => {
    const ours = ['.ci', 'bin', 'prisma', 'src', 'test'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
    );
    const isThere = (named: string) => ours.some((path) => path === named || path.endsWith(`/${named}`));
    const named = documents.flatMap(({ file, text }) =>
      [...text.matchAll(/`([\w./-]+\.tsx?|[\w.-]+\/[\w./-]+\.[mc]js)`/g)].map(([, path = '']) => ({ file, path })),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter(({ path }) => !isThere(path))).toEqual([]);
  });
});

/** What a promise cites: each test file, and the titles that follow it; `…` in a title stands for anything. */
function cited(text: string): { file: string; title?: string }[] {
  let file = '';
  return [...text.matchAll(/`(test\/[\w./-]+\.ts)`|"([^"]+)"/g)].flatMap(([, path, title]) => {
    if (path) file = path;
    if (!file) return [];
    return path ? [{ file }] : [{ file, title }];
  });
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether a file has a string with these words in it. */
function hasTitle(file: string, title: string): boolean {
  const source = readFileSync(file, 'utf8').replaceAll("\\'", "'");
  return new RegExp(`['"\`].*${title.split('…').map(escaped).join('.*')}`).test(source);
}

describe('the promises of docs/security.md', () => {
  const promises = readFileSync('docs/security.md', 'utf8')
    .split('\n')
    .flatMap((line) => cited(line.slice(line.search(/→|\| `test/) + 1 || line.length)));

  it('cite tests that exist', () => {
    expect(promises.length).toBeGreaterThan(80);
    expect(promises.filter(({ file }) => !existsSync(file))).toEqual([]);
  });

  it('cite titles that their files have', () => {
    const quoted = promises.filter(({ title }) => title);
    expect(quoted.length).toBeGreaterThan(40);
    expect(quoted.filter(({ file, title = '' }) => !hasTitle(file, title))).toEqual([]);
  });
});
