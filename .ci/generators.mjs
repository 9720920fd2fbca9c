/**
 * Clients that others generate from schema/openapi.json, compiled: openapi-typescript, hey-api and orval, in the last versions that
 * run on Node 20. None of them is a dependency of the project: npm installs each into a folder of its own, and where it cannot,
 * that one is skipped and said to be.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const contract = resolve('schema/openapi.json');
const folder = mkdtempSync(join(tmpdir(), 'crm-generators-'));

/** What is installed, and what is run in its folder; what it makes is below `out`. openapi-typescript and hey-api need the JavaScript API of TypeScript 5. */
const generators = [
  { name: 'openapi-typescript', packages: ['openapi-typescript@7.13.0', 'typescript@5'], args: [contract, '-o', 'out/types.ts'] },
  { name: 'openapi-ts', packages: ['@hey-api/openapi-ts@0.95.0', 'typescript@5'], args: ['-i', contract, '-o', 'out'] },
  { name: 'orval', packages: ['orval@7.13.2'], args: ['--config', 'orval.config.json'] },
];
const orval = { crm: { input: contract, output: { target: 'out/client.ts', client: 'fetch' } } };
const compilerOptions = {
  ...{ target: 'ES2022', lib: ['ES2023', 'DOM', 'DOM.Iterable'], module: 'ESNext', moduleResolution: 'Bundler' },
  ...{ strict: true, noEmit: true, skipLibCheck: true, types: [] },
};

/** npm gives up on a registry that does not answer. */
const patience = ['--fetch-timeout=30000', '--fetch-retries=1'];

/** Whether a program ended well; what it printed is shown where it did not. */
const runs = (program, args, cwd) =>
  promisify(execFile)(program, args, { cwd, timeout: 240_000 }).then(
    () => true,
    ({ stdout, stderr }) => {
      process.stderr.write(`${stdout}${stderr}`);
      return false;
    },
  );

/** Bytes of what was generated. */
const sizeOf = (path) =>
  readdirSync(path, { recursive: true })
    .map((name) => statSync(join(path, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

async function compiles({ name, packages, args }) {
  const own = join(folder, name);
  mkdirSync(join(own, 'out'), { recursive: true });
  writeFileSync(join(own, 'package.json'), '{}');
  writeFileSync(join(own, 'orval.config.json'), JSON.stringify(orval));
  writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['out'] }));
  const began = Date.now();
  if (
    !(await runs('npm', ['install', '--silent', '--no-save', '--no-audit', '--no-fund', ...patience, '--prefix', own, ...packages], own))
  ) {
    console.log(`skipped: npm could not install ${packages[0]}`);
    return true;
  }
  const isMade = (await runs(join(own, 'node_modules/.bin', name), args, own)) && sizeOf(join(own, 'out')) > 100_000;
  const isRight = isMade && (await runs(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', own], own));
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`${packages[0]}: ${isRight ? 'generates and compiles' : `does not ${isMade ? 'compile' : 'generate'}`}, ${seconds} s`);
  return isRight;
}

const results = await Promise.all(generators.map(compiles));
rmSync(folder, { recursive: true, force: true });
process.exit(results.every(Boolean) ? 0 : 1);
