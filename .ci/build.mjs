/**
 * `npm run build`: makes the Prisma client and compiles into dist/, each only when what it is made from has changed. What was
 * made from what is noted in dist/.build.json as hashes of contents, so that a checkout or a copied folder cannot look newer
 * than it is. When nothing has changed no tool is started.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeFault } from '../bin/node.mjs';
import { clientSources, withSlashes } from './client.sources.mjs';

// Before anything is started: npm installs without the scripts by which packages refuse a Node, and Prisma would end in a stack trace.
const fault = nodeFault(process.version);
if (fault) {
  console.error(`build: ${fault}`);
  process.exit(1);
}

const stampFile = 'dist/.build.json';
const clientFolder = 'src/generated/prisma';
/** What tsconfig.build.json compiles; each file of them ends in the same place below dist/. */
const sources = ['src', 'prisma', 'schema'];

const packageOf = (name) => `node_modules/${name}/package.json`;

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => withSlashes(join(entry.parentPath, entry.name)));
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const content = readFileSync(file);
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

/** Runs a tool of a package; what it prints is shown when it fails. */
function run(file, args, env = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8', env: { ...process.env, ...env } });
  if (status === 0) return;
  process.stderr.write(stdout + stderr);
  process.exit(status ?? 1);
}

function generate() {
  console.log('build: the Prisma client');
  rmSync(clientFolder, { recursive: true, force: true });
  // Only the engine of the migrations would be downloaded, and the server brings that one as WebAssembly. That the file is there is
  // all that is asked of it, and Node itself is there on every system.
  run('node_modules/prisma/build/index.js', ['generate', '--schema', 'prisma/schema'], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
  });
  const file = `${clientFolder}/internal/class.ts`;
  writeFileSync(file, withEngineRead(readFileSync(file, 'utf8')));
}

/** The client's class with its engine read as text: imported as the module that it is in, 9 MB of base64 would stay for good. */
function withEngineRead(source) {
  const imported = /const \{ wasm \} = await import\(("[^"]+")\)/;
  if (!imported.test(source)) throw new Error('The Prisma client brings its engine in another way');
  const read = `const { readFile } = await import('node:fs/promises')
    const text = await readFile(new URL(import.meta.resolve($1)), 'utf8')
    const wasm = text.slice(text.indexOf('"') + 1, text.lastIndexOf('"'))`;
  return source.replace(imported, read);
}

/** What the client package exports, for compilers. */
function declare() {
  run('node_modules/typescript/bin/tsc', ['-p', 'src/client/tsconfig.json']);
}

/** The pages that the server hands out: src/pages, as files for browsers. */
function bundle() {
  console.log('build: the pages');
  run('node_modules/vite/bin/vite.js', ['build', '--config', 'src/pages/vite.config.mjs', '--logLevel', 'warn'], {
    NODE_ENV: 'production',
  });
}

const isSource = (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.startsWith('src/pages/');
const sourceOf = (output) => output.replace(/^dist\//, '').replace(/\.js(\.map)?$/, '.ts');

/** What lies in dist/ without a source: imports would still find it. */
const leftOver = () =>
  sources.flatMap((folder) => filesBelow(`dist/${folder}`)).filter((output) => !output.endsWith('.d.ts') && !existsSync(sourceOf(output)));

/** Whether every source has its output. The compiler does not look whether what it once wrote is still there. */
const isComplete = () => {
  const outputs = sources.flatMap(filesBelow).filter(isSource);
  return outputs.every((file) => existsSync(`dist/${file.replace(/\.ts$/, '.js')}`));
};

function compile() {
  console.log('build: dist/');
  const compiler = ['node_modules/typescript/bin/tsc', ['-p', 'tsconfig.build.json']];
  run(...compiler);
  if (!isComplete()) {
    rmSync('dist/.tsbuildinfo', { force: true });
    run(...compiler);
  }
  for (const output of leftOver()) rmSync(output);
}

/** Different settings: nothing of an earlier build is kept. */
function clean() {
  for (const path of [...sources, '.tsbuildinfo']) rmSync(`dist/${path}`, { recursive: true, force: true });
}

function note(stamp) {
  mkdirSync('dist', { recursive: true });
  writeFileSync(stampFile, JSON.stringify(stamp));
}

/** What the last build was made from. */
function noted() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return {};
  }
}

const clientFiles = () => [...filesBelow('prisma/schema'), packageOf('prisma'), packageOf('@prisma/client')];
const settingFiles = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', packageOf('typescript'), '.ci/build.mjs'];
const isPage = (file) => file.startsWith('src/pages/');
const codeHash = () => hashOf(sources.flatMap(filesBelow).filter((file) => !isPage(file)));
const pageHash = () =>
  hashOf([...['src/pages', 'src/client', 'src/generated/client', 'schema'].flatMap(filesBelow), packageOf('vite'), packageOf('react')]);

if (!existsSync(packageOf('typescript'))) {
  console.error('build: packages are missing, run "npm ci" first');
  process.exit(1);
}
const before = noted();
const client = hashOf(clientFiles());
const settings = hashOf(settingFiles);
const contract = existsSync('src/client') ? hashOf(clientSources) : '';
const hasClient = before.client === client && existsSync(`${clientFolder}/client.ts`);
const hasContract = contract === '' || (before.contract === contract && existsSync('src/generated/client/rest.ts'));
if (!hasContract) await (await import('./client.mjs')).makeClient();
const hasCode = before.settings === settings && before.code === codeHash() && isComplete() && leftOver().length === 0;
const hasPages = !existsSync('src/pages') || (before.pages === pageHash() && existsSync('dist/pages/index.html'));

if (!hasClient || !hasContract || !hasCode || !hasPages) {
  // Noted step by step: a build that fails or is interrupted is not taken for a finished one.
  const { code, pages } = before;
  note({});
  if (!hasClient) generate();
  if (before.settings !== settings) clean();
  const done = { client, settings, contract };
  note({ ...done, ...(hasPages && { pages }) });
  if (!hasCode) {
    const began = codeHash();
    compile();
    if (contract) declare();
    // What was edited meanwhile is compiled by the next build.
    if (codeHash() === began) done.code = began;
  } else done.code = code;
  note({ ...done, ...(hasPages && { pages }) });
  const begun = pageHash();
  if (!hasPages) bundle();
  note({ ...done, pages: begun });
}
