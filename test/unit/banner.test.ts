import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { banner } from '../../src/banner.js';
import type { App } from '../../src/kernel/context/context.js';

const shown = (dataDir: string) =>
  banner({ config: { dataDir, pages: true, board: true }, database: { kind: 'pglite' } } as App, 'http://127.0.0.1:4000', {
    email: 'demo@example.com',
    password: 'a password',
    key: 'a-key',
  });

describe('what a start prints', () => {
  it('names the data below the folder of the caller as it is typed there', () => {
    expect(shown(process.cwd())).toMatch(/embedded database in \.\n[\s\S]*Demo key +demo\.key\n.*\$\(cat demo\.key\)/);
    expect(shown(join(process.cwd(), 'data'))).toMatch(/embedded database in data\n[\s\S]*\$\(cat data\/demo\.key\)/);
    expect(shown('/srv/crm')).toContain('$(cat /srv/crm/demo.key)');
  });

  it('has a call that finds the key, whatever the folder is called', () => {
    const folder = mkdtempSync(join(tmpdir(), 'crm-banner-'));
    for (const name of ['my data', "Ada's $HOME", 'ordinary']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'demo.key'), 'a-key\n');
      const call = /Try it +curl (.*)$/m.exec(shown(join(folder, name)))![1];
      const { stdout } = spawnSync('sh', ['-c', `printf '%s|' ${call}`], { encoding: 'utf8' });
      expect(stdout).toBe('-H|Authorization: Bearer a-key|http://127.0.0.1:4000/api/v1/contacts?per_page=3|');
    }
    rmSync(folder, { recursive: true });
  });
});
