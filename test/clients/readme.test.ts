import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../support/live.js';
import { ServerProcess } from '../support/process.js';
import { codeBlocks, inShell } from '../support/readme.js';
import { Simulators } from '../support/simulators.js';

jest.setTimeout(120_000);

const folder = mkdtempSync(join(tmpdir(), 'crm-readme-'));
let simulators: Simulators;
let server: ServerProcess;
let address: string;
let receiver: ChildProcess | undefined;
let receiverPort: number;
beforeAll(async () => {
  // Below those that systems give out: what listens later finds its port free.
  const port = 10_000 + ((process.pid * 2) % 20_000);
  receiverPort = port + 1;
  simulators = await Simulators.begin(`http://127.0.0.1:${port}`);
  const settings = { ...simulators.settings, WEBHOOK_ALLOW_PRIVATE: '1', DATA_DIR: join(folder, 'data'), PORT: String(port) };
  server = new ServerProcess(settings);
  address = await server.address();
});
afterAll(async () => {
  if (receiver?.pid) process.kill(-receiver.pid, 'SIGKILL');
  await server.kill();
  await simulators.end();
  rmSync(folder, { recursive: true, force: true });
});

/** The shell block of the README that has these words, with the addresses of this test. */
function block(words: string): string {
  const found = codeBlocks('sh').filter((text) => text.includes(words));
  expect([words, found.length]).toEqual([words, 1]);
  return found[0]!
    .replaceAll('http://127.0.0.1:4000', address)
    .replaceAll('http://127.0.0.1:4010', simulators.settings.TWILIO_API_BASE!)
    .replaceAll('127.0.0.1:9000', `127.0.0.1:${receiverPort}`);
}

/** What a block prints as it stands there. */
const pasted = async (words: string): Promise<string> => (await promisify(execFile)('bash', ['-ec', block(words)], { cwd: folder })).stdout;

inShell(describe)('the blocks of the README in a shell', () => {
  it('set what leads to the simulators by what these print', async () => {
    mkdirSync(join(folder, 'data'), { recursive: true });
    writeFileSync(join(folder, 'data/vendors.sh'), simulators.output);
    const restart = block('. data/vendors.sh').replace('npm start', 'printenv TWILIO_API_BASE');
    const { stdout } = await promisify(execFile)('bash', ['-ec', restart], { cwd: folder });
    expect(stdout.trim()).toBe(simulators.settings.TWILIO_API_BASE);
  });

  it('have a contact answer by the vendor, in the thread of what was written', async () => {
    await pasted('createContact');
    await pasted('settings/numbers');
    expect(await pasted('/simulator/reply')).toBe('{"status":200}');
    expect(await pasted('conversationState')).toContain('"body":"Yes, please"');
  });

  it('publish a call flow, and call its number', async () => {
    await pasted('"name": "Front desk"');
    const printed = await pasted('/publish');
    expect(printed).toContain('"publishedVersion":1');
    expect(printed).toContain(
      '"log":[{"say":"Nobody can take your call. Please leave a message after the tone."},{"record":120},{"end":"completed"}]',
    );
  });

  it('register a receiver, which prints what is created from then on', async () => {
    writeFileSync(join(folder, 'receiver.mjs'), codeBlocks('js')[0]!);
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(resolve('node_modules/standardwebhooks'), join(folder, 'node_modules/standardwebhooks'));
    const env = { ...process.env, PORT: String(receiverPort) };
    receiver = spawn('bash', ['-ec', block('webhooks/manage')], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    receiver.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const listens = async () => (await fetch(`http://127.0.0.1:${receiverPort}`).catch(() => undefined))?.status === 400;
    await eventually(listens, 30_000);
    await pasted('"firstName": "Ada"');
    await eventually(() => /contact\.created.*Lovelace/.test(printed), 30_000);
  });
});

inShell(describe)('the block of the README for a server that is no demo', () => {
  it('registers an account, and makes a key for programs', async () => {
    const own = new ServerProcess({ SEED_DEMO: '0', DATA_DIR: join(folder, 'own') });
    try {
      const env = { ...process.env, PUBLIC_URL: await own.address() };
      const { stdout } = await promisify(execFile)('bash', ['-ec', block('auth/register')], { cwd: folder, env });
      expect(stdout).toContain('"email":"you@example.com"');
      expect(stdout).toContain('"permission":"admin"');
      const headers = { authorization: `Bearer ${readFileSync(join(folder, 'crm.key'), 'utf8').trim()}` };
      const reply = await fetch(`${env.PUBLIC_URL}/api/v1/contacts`, { headers });
      expect([reply.status, existsSync(join(folder, 'crm.cookies'))]).toEqual([200, false]);
    } finally {
      await own.kill();
    }
  });
});

describe('the client of the README', () => {
  it('reads and follows, on every Node that is supported', async () => {
    const [code] = codeBlocks('ts');
    const rest = `
      if (error) throw error;
      console.log(typeof data.data.meta.total);
      const query = 'subscription ($after: ID) { dealEvents(after: $after, ready: true) { id kind } }';
      for await (const told of live.iterate({ query })) {
        console.log(told.data.dealEvents.kind);
        break;
      }
      process.exit(0);`;
    const here = code!.replaceAll('127.0.0.1:4000', new URL(address).host) + rest;
    const env = { ...process.env, CRM_KEY: readFileSync(join(folder, 'data/demo.key'), 'utf8').trim() };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', here], { env });
    expect(stdout.split('\n').filter(Boolean)).toEqual(['number', 'ready']);
  });

  it('is that of the guide: the blocks of its chapter are one program', async () => {
    const blocks = codeBlocks('ts', readFileSync('docs/guide/package.md', 'utf8')).join('\n');
    const here = `${blocks.replaceAll('127.0.0.1:4000', new URL(address).host)}\nprocess.exit(0);`;
    const env = { ...process.env, CRM_KEY: readFileSync(join(folder, 'data/demo.key'), 'utf8').trim() };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', here], { env });
    expect(stdout.split('\n').filter(Boolean)).toEqual(["[ 'Ada Package' ]", "[ 'Grace Package', 'Ada Package' ]", "[ 'Ada Package' ]"]);
  });
});
