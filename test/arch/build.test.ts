import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jest } from '@jest/globals';

jest.setTimeout(180_000);

/** A small project with the settings and the packages of this one. */
const project = mkdtempSync(join(tmpdir(), 'build-'));
const place = (file: string) => join(project, file);
const has = (file: string) => existsSync(place(file));
const read = (file: string) => readFileSync(place(file), 'utf8');

function write(file: string, content: string): void {
  mkdirSync(dirname(place(file)), { recursive: true });
  writeFileSync(place(file), content);
}

/** What the build says that it made, its exit status, and what it complained of. */
function build() {
  const { stdout, stderr, status } = spawnSync(process.execPath, [resolve('.ci/build.mjs')], { cwd: project, encoding: 'utf8' });
  return { made: [...stdout.matchAll(/^build: (.*)$/gm)].map(([, what]) => what), status, stderr };
}

const nothing = { made: [], status: 0, stderr: '' };
const code = { made: ['dist/'], status: 0, stderr: '' };
const everything = { made: ['the Prisma client', 'dist/'], status: 0, stderr: '' };

beforeAll(() => {
  for (const file of [
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
    'package.json',
    '.ci/build.mjs',
    'prisma/schema/base.prisma',
  ]) {
    mkdirSync(dirname(place(file)), { recursive: true });
    cpSync(file, place(file));
  }
  symlinkSync(resolve('node_modules'), place('node_modules'));
  write('prisma/schema/dog.prisma', 'model Dog {\n  id String @id\n}\n');
  write('src/main.ts', "export { bark } from './bark.js';\n");
  write('src/bark.ts', "export const bark = 'woof';\n");
  write('schema/emit.ts', 'export const emitted = 1;\n');
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

describe('npm run build', () => {
  it('needs no file of one system', () => {
    expect(readFileSync('.ci/build.mjs', 'utf8').match(/['"`]\/(?:bin|etc|lib|opt|usr)\/.*/g)).toBeNull();
  });

  it('makes the Prisma client and dist/ in a fresh clone', () => {
    expect(build()).toEqual(everything);
    expect(read('dist/src/bark.js')).toContain('woof');
    expect(has('dist/src/generated/prisma/client.js')).toBe(true);
  });

  it('does nothing when nothing has changed', () => {
    expect(build()).toEqual(nothing);
  });

  it('does nothing when a file is only written again', () => {
    write('src/bark.ts', read('src/bark.ts'));
    expect(build()).toEqual(nothing);
  });

  it('compiles a changed and a new file', () => {
    write('src/bark.ts', "export const bark = 'wuff';\n");
    write('src/tail.ts', 'export const wags = true;\n');
    expect(build()).toEqual(code);
    expect(read('dist/src/bark.js')).toContain('wuff');
    expect(has('dist/src/tail.js')).toBe(true);
  });

  it('leaves nothing of a deleted file in dist/', () => {
    rmSync(place('src/tail.ts'));
    expect(build()).toEqual(code);
    expect(has('dist/src/tail.js')).toBe(false);
    expect(has('dist/src/tail.js.map')).toBe(false);
  });

  it('removes from dist/ what has no source, and brings back what is missing', () => {
    write('dist/src/stray.js', 'export {};\n');
    expect(build()).toEqual(code);
    expect(has('dist/src/stray.js')).toBe(false);
    rmSync(place('dist/src/bark.js'));
    expect(build()).toEqual(code);
    expect(has('dist/src/bark.js')).toBe(true);
  });
});

describe('npm run build on Windows', () => {
  it('tells paths with the signs that it looks for', () => {
    const script = `import { withSlashes } from './.ci/client.sources.mjs'; console.log(withSlashes(String.raw\`dist\\src\\main.js\`))`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
    expect(stdout.trim()).toBe('dist/src/main.js');
  });
});

describe('a Node that is too old', () => {
  const start = (...args: string[]) => spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8', timeout: 30_000 });
  const engineOf = (found: { engines: { node: string } }) => found.engines.node;
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const wanted = engineOf(JSON.parse(readFileSync('package.json', 'utf8')));

  it('is any that Prisma does not run on', () => {
    expect([wanted, engineOf(packages[''])]).toEqual(Array(2).fill(engineOf(packages['node_modules/prisma'])));
    expect(wanted).toBe('^20.19 || ^22.12 || >=24.0');
    const old = ['18.20.8', '20.18.3', '21.7.3', '22.0.0', '22.11.0', '23.11.1'].map((version) => `v${version}`);
    const good = ['20.19.0', '20.20.2', '22.12.0', '22.21.1', '24.0.0', '25.2.0'].map((version) => `v${version}`);
    const file = pathToFileURL(resolve('bin/node.mjs')).href;
    const script = `import { nodeFault } from '${file}';
      console.log(JSON.stringify(${JSON.stringify([...old, ...good])}.filter((version) => nodeFault(version) !== undefined)));`;
    expect(JSON.parse(start('--input-type=module', '--eval', script).stdout)).toEqual(old);
  });

  it.each([
    ['build', '.ci/build.mjs'],
    ['crm-server', 'bin/crm-server.mjs'],
  ])('is told by one sentence of %s, before anything is done', (name, file) => {
    const pretend = "Object.defineProperty(process, 'version', { value: 'v22.11.0' })";
    const { stdout, stderr, status } = start('--import', `data:text/javascript,${encodeURIComponent(pretend)}`, resolve(file));
    const told = `${name}: it needs Node 20.19 or later of 20, 22.12 or later of 22, or 24 or later, and this is v22.11.0.\n`;
    expect({ stdout, stderr, status }).toEqual({ stdout: '', stderr: told, status: 1 });
  });
});

describe('npm run build, of what the code is made with', () => {
  it('makes the client anew when the Prisma schema changes', () => {
    write('prisma/schema/cat.prisma', 'model Cat {\n  id String @id\n}\n');
    expect(build()).toEqual(everything);
    expect(has('dist/src/generated/prisma/models/Cat.js')).toBe(true);
    rmSync(place('prisma/schema/cat.prisma'));
    expect(build()).toEqual(everything);
    expect(has('src/generated/prisma/models/Cat.ts')).toBe(false);
    expect(has('dist/src/generated/prisma/models/Cat.js')).toBe(false);
  });

  it('compiles anew when the settings or the packages change', () => {
    write('tsconfig.json', read('tsconfig.json').replace('"sourceMap": true', '"sourceMap": false'));
    expect(build()).toEqual(code);
    expect(has('dist/src/bark.js.map')).toBe(false);
    write('package-lock.json', `${read('package-lock.json')}\n`);
    expect(build()).toEqual(code);
    expect(build()).toEqual(nothing);
  });

  it('fails with the error each time until it is mended', () => {
    write('src/bark.ts', 'export const bark: string = 1;\n');
    const fails = { made: ['dist/'], status: 2, stderr: expect.stringContaining('src/bark.ts') };
    expect(build()).toEqual(fails);
    expect(build()).toEqual(fails);
    write('src/bark.ts', "export const bark = 'wuff';\n");
    expect(build()).toEqual(code);
  });

  it('starts from the beginning when what it noted cannot be read', () => {
    write('dist/.build.json', '{"clie');
    expect(build()).toEqual(everything);
  });
});
