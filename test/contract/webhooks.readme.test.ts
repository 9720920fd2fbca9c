import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Account, dataOf, server, type TestServer } from '../support/index.js';
import { eventually } from '../support/live.js';
import { readme } from '../support/readme.js';
import { Receiver } from '../support/receiver.js';

let api: TestServer;
let acme: Account;
let child: ChildProcess | undefined;
beforeAll(async () => {
  api = await server();
  acme = await api.seed.account();
});
afterAll(async () => {
  child?.kill('SIGKILL');
  await api.close();
});

/** An address on this machine that nobody listens on by now. */
async function freeAddress(): Promise<string> {
  const receiver = await Receiver.open();
  await receiver.close();
  return receiver.url;
}

describe('the receiver of the README', () => {
  it('takes what this server sent and refuses what anybody else did', async () => {
    const [, code] = /^```js\n([\s\S]*?)^```$/m.exec(readme)!;
    const url = await freeAddress();
    const { id, secret } = dataOf(await acme.owner.post('/webhooks/manage', { url, events: ['contact.created'] }));
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: new URL(url).port };
    child = spawn(process.execPath, ['--input-type=module', '-e', code!], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    await eventually(async () => (await acme.owner.post(`/webhooks/manage/${id}/test`)).status === 200, 30_000);
    await acme.contact({ firstName: 'Ada' });
    await eventually(() => /contact\.created.*Ada/.test(printed));
    const foreign = await api.app.egress.post({
      url,
      headers: { 'content-type': 'application/json' },
      body: '{"event":"contact.created"}',
    });
    expect(foreign).toMatchObject({ status: 400 });
  });
});
