import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

interface Dependency {
  resolved: string;
}
export interface Cruised {
  modules: { source: string; dependencies: Dependency[] }[];
  summary: { totalCruised: number; violations: { rule: { name: string; severity: string }; from: string; to: string }[] };
}

const root = resolve('.');

/** Runs dependency-cruiser with the project's rules over the `src` of a directory. */
export function cruise(directory = root, folders = ['src']): Cruised {
  const bin = resolve(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const config = resolve(root, '.dependency-cruiser.cjs');
  const args = [bin, ...folders, '--config', config, '--output-type', 'json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (!stdout) throw new Error(`dependency-cruiser said nothing: ${stderr}`);
  return JSON.parse(stdout) as Cruised;
}
