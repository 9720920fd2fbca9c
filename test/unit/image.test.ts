import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

/** What the Dockerfile takes from the project, and not from an earlier part of itself. */
const copied = lines('Dockerfile')
  .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
  .flatMap((line) => line.split(/\s+/).slice(1, -1));

/** A pattern of .dockerignore: `*` stands for anything within a name, `**` for any folders. */
const expressionOf = (pattern: string) =>
  new RegExp(`^${pattern.replace(/[.+^$()|{}\\]/g, '\\$&').replace(/\*\*|\*/g, (stars) => (stars === '*' ? '[^/]*' : '.*'))}$`);

const patterns = lines('.dockerignore').map((line) => ({
  keeps: line.startsWith('!'),
  pattern: expressionOf(posix.normalize(line.replace(/^!/, '')).replace(/^\/|\/$/g, '')),
}));

/** A file and the folders that it is in. */
const withFolders = (path: string): string[] => (path === '.' ? [] : [path, ...withFolders(dirname(path))]);

/** As the builder decides: the last line that names the file, or a folder that it is in. */
const reachesBuilder = (file: string) =>
  patterns.findLast(({ pattern }) => withFolders(file).some((path) => pattern.test(path)))?.keeps ?? true;

const filesOf = (path: string): string[] =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(path).flatMap((name) => filesOf(join(path, name))) : [path];

/** What a script of the build imports of ours. */
const importsOf = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, path = '']) => join(dirname(file), path));

describe('the image', () => {
  it('is built of files that are there and that .dockerignore lets through', () => {
    expect(copied).toEqual(expect.arrayContaining(['package.json', 'src', 'prisma', 'public']));
    for (const source of copied) {
      expect({ source, isThere: statSync(source, { throwIfNoEntry: false }) !== undefined }).toEqual({ source, isThere: true });
      expect({ source, isSent: filesOf(source).some(reachesBuilder) }).toEqual({ source, isSent: true });
    }
  });

  it('leaves none of the sources out, and takes nothing generated along', () => {
    const sent = ['src', 'prisma', 'schema', 'public'].flatMap(filesOf).filter((file) => !file.startsWith('src/generated/'));
    expect(sent.filter((file) => !reachesBuilder(file))).toEqual([]);
    expect(['src/generated/prisma/client.ts', 'node_modules/pg/package.json', '.env', 'data/secret.key'].filter(reachesBuilder)).toEqual(
      [],
    );
  });

  it('is built by scripts that find what they import', () => {
    const scripts = copied.filter((source) => source.endsWith('.mjs'));
    expect(scripts).toContain('.ci/build.mjs');
    expect(scripts.flatMap(importsOf).filter((file) => !scripts.includes(file))).toEqual([]);
  });
});
