import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readSecret } from '../../src/kernel/base/secretFile.js';
import { Alone } from '../support/alone.js';
import { onEmbedded } from '../support/database.js';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';

const folder = mkdtempSync(join(tmpdir(), 'crm-full-'));
const [dataDir, full, preload] = ['data', 'full', 'preload.cjs'].map((name) => join(folder, name)) as [string, string, string];
// As a disk that is full: while the file is there, nothing can be written to the log of the database.
writeFileSync(
  preload,
  `const fs = require('node:fs');
  const write = fs.writeSync;
  fs.writeSync = (fd, ...rest) => {
    if (fs.existsSync(${JSON.stringify(full)}) && fs.readlinkSync('/proc/self/fd/' + fd).includes('/pg_wal/'))
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28, syscall: 'write' });
    return write(fd, ...rest);
  };`,
);

const running: ServerProcess[] = [];
async function start() {
  const server = new ServerProcess({ DATA_DIR: dataDir, NODE_OPTIONS: `--require=${preload}` });
  running.push(server);
  const address = await server.address();
  const headers = { authorization: `Bearer ${readSecret(dataDir, 'demo.key')}`, 'content-type': 'application/json' };
  const write = async (lastName: string) => {
    const answer = await fetch(`${address}/api/v1/contacts`, { method: 'POST', headers, body: JSON.stringify({ lastName }) });
    return answer.status;
  };
  const found = async (name: string) =>
    (await (await fetch(`${address}/api/v1/contacts?search=${name}`, { headers })).json()).data.meta.total;
  return { server, write, found };
}

afterAll(async () => {
  for (const one of running) await one.kill();
  rmSync(folder, { recursive: true, force: true });
});

onEmbedded(describe)('the embedded database on a disk that is full', () => {
  it('ends its process once its log cannot be written, and loses nothing that was acknowledged', async () => {
    const before = await start();
    expect(await before.write('Before')).toBe(201);
    writeFileSync(full, '');
    // What is under way may be told, or is cut off.
    expect(await before.write('Meanwhile').catch(() => 'cut off')).not.toBe(201);
    expect(await before.server.ended()).toBe(1);
    expect(before.server.output).toMatch(/The embedded database has stopped: .*No space left on device/);
    rmSync(full);
    const after = await start();
    expect(await after.found('Before')).toBe(1);
    expect(await after.write('After')).toBe(201);
  });
});

/** As a disk of the log that is full: while `full` is there, nothing can be written to stdout. */
const fullLog = `const fs = require('node:fs');
  const { write, writeSync } = fs;
  const isFull = (fd) => fd === 1 && fs.existsSync(${JSON.stringify(full)});
  const fault = () => Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', errno: -28, syscall: 'write' });
  fs.write = (fd, ...rest) => (isFull(fd) ? setImmediate(rest.at(-1), fault(), 0) : write(fd, ...rest));
  fs.writeSync = (fd, ...rest) => {
    if (isFull(fd)) throw fault();
    return writeSync(fd, ...rest);
  };
  require('node:module').syncBuiltinESMExports();`;

describe('a server whose log is on a disk that is full', () => {
  it('answers, logs what waited once there is room, and stops in good order', async () => {
    writeFileSync(preload, fullLog);
    const alone = await Alone.begin({ LOG_LEVEL: 'info', NODE_OPTIONS: `--require=${preload}` });
    try {
      writeFileSync(full, '');
      // A page of another origin is told by the log.
      expect((await alone.caller.get('/tags', { origin: 'https://waits.example' })).status).toBe(200);
      for (let n = 0; n < 20; n++) expect((await alone.caller.get('/tags')).status).toBe(200);
      expect(alone.process.output).not.toContain('waits.example');
      rmSync(full);
      await eventually(() => alone.process.output.includes('waits.example'));
      writeFileSync(full, '');
      alone.process.signal('SIGTERM');
      expect(await alone.process.ended()).toBe(0);
    } finally {
      rmSync(full, { force: true });
      await alone.end();
    }
  });
});
