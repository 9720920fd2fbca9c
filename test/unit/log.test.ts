import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const built = pathToFileURL(resolve('dist/src/kernel/base/log.js')).href;
/** Node, for a program that has a log. */
const program = (code: string) => ['--input-type=module', '-e', `import { logger } from '${built}'; const log = logger('info'); ${code}`];

function ran(code: string, stdout: 'pipe' | number) {
  const bounds = { timeout: 20_000, killSignal: 'SIGKILL', maxBuffer: 10_000_000 } as const;
  return spawnSync(process.execPath, program(code), { ...bounds, stdio: ['ignore', stdout, 'pipe'], encoding: 'utf8' });
}

describe('the log on stdout', () => {
  it('has every line of a process that ends at once, by what is fatal or not', () => {
    for (const last of ['', "log.fatal('the last one');"]) {
      const code = `for (let i = 0; i < 3000; i++) log.info({ i }, 'ä'.repeat(100)); ${last} process.exit(7);`;
      const { status, stdout } = ran(code, 'pipe');
      const lines = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const seen = lines.flatMap(({ i }) => i ?? []).sort((a, b) => a - b);
      expect([status, seen]).toEqual([7, Array.from({ length: 3000 }, (_, i) => i)]);
      expect(lines.filter(({ msg }) => msg === 'the last one')).toHaveLength(last ? 1 : 0);
    }
  });

  it('takes no part of the process with it where it is on a disk that is full', () => {
    const full = openSync('/dev/full', 'w');
    const end = "console.error('it goes on'); log.fatal('three'); process.exit(7);";
    const { status, stderr } = ran(`log.info('one'); process.stdout.write('two'); setTimeout(() => { ${end} }, 300);`, full);
    closeSync(full);
    expect([status, stderr]).toEqual([7, expect.stringContaining('it goes on')]);
  });

  it('does not hold up the end of the process where its reader has stopped', async () => {
    const code = "for (let i = 0; i < 5000; i++) log.info('x'.repeat(1000)); process.exit(7);";
    // Nobody reads its stdout.
    const child = spawn(process.execPath, program(code), { stdio: ['ignore', 'pipe', 'inherit'] });
    const killing = setTimeout(() => child.kill('SIGKILL'), 20_000);
    expect(await once(child, 'exit')).toEqual([7, null]);
    clearTimeout(killing);
    child.stdout.destroy();
  });
});
