import { execFile } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import type { Loose } from '../support/index.js';

const document = 'schema/openapi.json';

/** Runs the command of a package; what it prints is JSON. */
function told(file: string, ...args: string[]): Promise<Loose> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  return new Promise((resolve, reject) =>
    execFile(process.execPath, [`node_modules/${file}`, ...args], { env, maxBuffer: 1 << 26 }, (_failed, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error(`${file} told no JSON: ${stdout.slice(0, 2000)} ${stderr.slice(0, 2000)}`));
      }
    }),
  );
}

describe('linters of OpenAPI', () => {
  it('Redocly finds nothing to mend', async () => {
    const { totals, problems } = await told('@redocly/cli/bin/cli.js', 'lint', document, '--format', 'json');
    expect(problems.filter(({ ignored }: Loose) => !ignored)).toEqual([]);
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 2 });
  });

  it('Spectral finds nothing to mend', async () => {
    expect(await told('spectral-cli-bundle/dist/index.js', 'lint', document, '--format', 'json', '--quiet')).toEqual([]);
  });
});
