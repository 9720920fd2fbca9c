import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClassMember, type ModuleItem, parseSync } from '@swc/core';
import { modules } from '../../src/modules.js';

const filesUnder = (folder: string, end = '.ts'): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith(end) && !name.startsWith('src/generated'));

const sources = filesUnder('src').map((name) => ({ name, text: readFileSync(name, 'utf8') }));
const tests = filesUnder('test').map((name) => ({ name, text: readFileSync(name, 'utf8') }));

/** The lines of the sources that a pattern finds, as "file:line", outside of the files that may. */
function linesWith(pattern: RegExp, allowed: RegExp, among = sources): string[] {
  return among
    .filter(({ name }) => !allowed.test(name))
    .flatMap(({ name, text }) => text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${name}:${i + 1} ${line.trim()}`] : [])));
}

const nowhere = /^$/;

describe('the sources', () => {
  it('are there to be looked at', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.filter(({ name }) => name.endsWith('.resolver.ts')).length).toBeGreaterThan(3);
  });

  it('stay under 300 lines a file', () => {
    const others = [...filesUnder('prisma'), ...filesUnder('.ci', ''), ...filesUnder('schema')].filter((name) =>
      /\.ts$|\.mjs$|run$/.test(name),
    );
    const all = [...sources, ...tests, ...others.map((name) => ({ name, text: readFileSync(name, 'utf8') }))];
    expect(all.filter(({ text }) => text.split('\n').length > 300).map(({ name }) => name)).toEqual([]);
  });

  it('write at most 300 lines of code for clients by hand', () => {
    const own = sources.filter(({ name }) => name.startsWith('src/client/')).flatMap(({ text }) => text.split('\n'));
    const code = own.filter((line) => !/^\s*($|\/\/|\/\*|\*)/.test(line));
    expect(code.length).toBeGreaterThan(200);
    expect(code.length).toBeLessThanOrEqual(300);
  });

  it('read the environment in the configuration alone', () => {
    // what main says of NODE_ENV must be said before the configuration is read
    expect(linesWith(/process\.env(?!\.NODE_ENV)/, /^src\/kernel\/base\/config\.ts$/)).toEqual([]);
    expect(linesWith(/process\.env/, /^src\/(kernel\/base\/config|main)\.ts$/)).toEqual([]);
  });

  it('keep raw SQL behind the kernel', () => {
    // workers serve all accounts, and the queue's library brings its own statements into our transactions
    expect(linesWith(/database\.execute|\.prisma\./, /^src\/(kernel\/|workers\/|modules\/auth\/)/)).toEqual([]);
    expect(linesWith(/\$(query|execute)Raw/, /^src\/(kernel\/|workers\/jobs\.ts$)/)).toEqual([]);
  });

  // The client package runs elsewhere, and calls nobody but this server.
  it('call out in the kernel and in vendors alone', () => {
    expect(
      linesWith(
        /(?<![.\w])fetch\(|globalThis\.fetch|\b(https?|net|tls)\.(request|get|connect)\(|new WebSocket\(/,
        /^src\/(vendors|client)\//,
      ),
    ).toEqual([]);
  });

  it('run no text as code', () => {
    expect(linesWith(/node:vm|new Function\(|\beval\(/, nowhere)).toEqual([]);
  });

  it('have no comment that is longer than a line of code', () => {
    expect(linesWith(/^(?=\s*(\/?\*|\/\/)).{141,}/, nowhere)).toEqual([]);
  });

  it('leave nothing for later', () => {
    expect(linesWith(/\b(TODO|FIXME|XXX|HACK)\b/, nowhere)).toEqual([]);
  });
});

describe('a module', () => {
  const inModules = sources.filter(({ name }) => name.startsWith('src/modules/'));

  it('is registered', () => {
    const registry = readFileSync('src/modules.ts', 'utf8');
    const folders = [...new Set(inModules.map(({ name }) => name.split('/')[2]))];
    expect(folders.length).toBeGreaterThan(3);
    expect(folders.filter((folder) => !registry.includes(`/modules/${folder}/`))).toEqual([]);
  });

  it('enqueues only what a module does', () => {
    const asked = inModules.flatMap(({ text }) => [...text.matchAll(/\.enqueue\('(\w+)'/g)].map(([, queue]) => queue!));
    expect(asked.length).toBeGreaterThan(1);
    expect(linesWith(/\.enqueue\((?!')/, nowhere, inModules)).toEqual([]);
    const done = modules.flatMap(({ jobs }) => Object.keys(jobs ?? {}));
    expect(asked.filter((queue) => !done.includes(queue))).toEqual([]);
  });

  it('never says which account it works for', () => {
    expect(linesWith(/accountId/, /^src\/modules\/auth\//, inModules)).toEqual([]);
  });

  it('looks beyond its account only to find out who is calling, or where nobody is known to', () => {
    expect(
      linesWith(
        /\.global\b/,
        /^src\/(kernel\/context\/context|kernel\/operations\/idempotency\.public|modules\/(auth|users)\/.+|demo\/demo)\.ts$/,
      ),
    ).toEqual([]);
  });

  it('does its work without a word about the APIs', () => {
    const ofTheApis = /\.(model|resolver|module)\.ts$/;
    expect(linesWith(/\b(HTTP|REST|SOFA|GraphQL|graphql|fastify|apollo)\b/, ofTheApis, inModules)).toEqual([]);
  });
});

/** Every method of every class of a file, with the number of statements in its body. */
function methodsOf(name: string, text: string): { method: string; statements: number }[] {
  const items: ModuleItem[] = parseSync(text, { syntax: 'typescript', decorators: true, target: 'es2022' }).body;
  const members = items.flatMap((item): ClassMember[] => {
    if (item.type === 'ExportDeclaration' && item.declaration.type === 'ClassDeclaration') return item.declaration.body;
    return item.type === 'ClassDeclaration' ? item.body : [];
  });
  return members.flatMap((member) => {
    if (member.type !== 'ClassMethod') return [];
    const key = member.key.type === 'Identifier' ? member.key.value : '?';
    return [{ method: `${name} ${key}`, statements: member.function.body?.stmts.length ?? 0 }];
  });
}

describe('a resolver', () => {
  it('has one statement a method', () => {
    const methods = sources.filter(({ name }) => name.endsWith('.resolver.ts')).flatMap(({ name, text }) => methodsOf(name, text));
    expect(methods.length).toBeGreaterThan(20);
    expect(methods.filter(({ statements }) => statements !== 1)).toEqual([]);
  });
});

describe('the tests', () => {
  it('are all run', () => {
    expect(
      linesWith(/\b(it|test|describe)\.(skip|only|todo)\b|\b(xit|xdescribe|fit|fdescribe)\(/, /^test\/arch\/house\.test\.ts$/, tests),
    ).toEqual([]);
  });
});
