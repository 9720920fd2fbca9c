import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/live.js';

const { bin, files } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string>; files: string[] };
const folder = mkdtempSync(join(tmpdir(), 'crm-empty-'));
const started: ChildProcess[] = [];
afterAll(() => {
  // What a failed test left running; one that has ended is not there any more.
  for (const child of started) child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

function command(settings: Record<string, string>) {
  const { PATH = '' } = process.env;
  const env = { PATH, PORT: '0', LOG_LEVEL: 'silent', ...settings };
  const child = spawn(process.execPath, [resolve(bin['crm-server']!)], { cwd: folder, env });
  started.push(child);
  return child;
}

describe('the command of the package', () => {
  it('starts the demo in an empty folder, and ends it when it is told to', async () => {
    const child = command({});
    const ended = once(child, 'exit');
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const address = await eventually(() => /^ {2}Pages +(http\S+)\/$/m.exec(output)?.[1], 60_000);
    expect(output).toContain('Demo login  demo@example.com, password ');
    expect(existsSync(join(folder, 'data/demo.key'))).toBe(true);
    const headers = { authorization: `Bearer ${readFileSync(join(folder, 'data/demo.key'), 'utf8').trim()}` };
    const { data } = (await (await fetch(`${address}/api/v1/contacts`, { headers })).json()) as { data: { meta: { total: number } } };
    expect(data.meta.total).toBe(60);
    expect((await fetch(`${address}/guide/events`)).status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
  });

  it('hands on what would end it, and nothing else', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const child = command({ SEED_DEMO: '0', DATA_DIR: ':memory:' });
      const ended = once(child, 'exit');
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await eventually(() => output.includes('CRM server ready'), 60_000);
      child.kill(signal);
      expect([signal, (await ended)[0]]).toEqual([signal, 0]);
    }
  });

  it('comes with everything that it reads', () => {
    expect(files).toEqual(expect.arrayContaining(['bin', 'dist/src', 'dist/prisma', 'prisma', 'public', 'docs/guide']));
    for (const path of files) expect([path, existsSync(path)]).toEqual([path, true]);
  });

  it('comes with the licences of what its pages are made of', () => {
    const text = readFileSync('dist/pages/licenses.md', 'utf8');
    for (const name of ['@apollo/client', 'react-dom', 'rxjs']) expect(text).toMatch(new RegExp(`^## ${name} - `, 'm'));
    expect(text).toContain('The above copyright notice and this permission notice shall be included');
  });
});
