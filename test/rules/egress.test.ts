import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Answer, Egress, type EgressOptions } from '../../src/kernel/egress/egress.js';
import { proxied } from '../support/proxied.js';
import { Receiver } from '../support/receiver.js';

const publicUrl = 'https://crm.example.org';
let receiver: Receiver;
let egress: Egress;

const open = (options: Partial<EgressOptions> = {}) => {
  egress = new Egress({ allowPrivate: true, publicUrl, ...options });
  return egress;
};
const post = (url: string): Promise<Answer> => egress.post({ url, headers: { 'content-type': 'application/json' }, body: '{"a":1}' });
const port = () => new URL(receiver.url).port;

beforeEach(async () => {
  receiver = await Receiver.open();
});
afterEach(async () => {
  await egress.close();
  await receiver.close();
});

describe('the way out, to a server that listens on this machine', () => {
  it('opens no connection, whatever the address is called', async () => {
    open({ allowPrivate: false });
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      'localhost',
    ];
    for (const host of hosts) {
      for (const scheme of ['http', 'https'])
        expect(await post(`${scheme}://${host}:${port()}/`)).toEqual({ fault: 'url_not_allowed', ms: 0 });
    }
    expect(receiver.connections).toBe(0);
  });

  it.each([
    ['a private address', ['127.0.0.1']],
    ['a public and a private one', ['93.184.216.34', '127.0.0.1']],
    ['a private one in an IPv6 one', ['::ffff:127.0.0.1']],
    ['nothing', []],
  ])('opens none to a name that leads to %s', async (_, addresses) => {
    open({ allowPrivate: false, resolve: async () => addresses });
    expect(await post(`https://hooks.example.com:${port()}/`)).toMatchObject({ fault: 'connection_failed' });
    expect(receiver.connections).toBe(0);
  });

  it('opens none where the name led elsewhere when it was checked', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    open({ allowPrivate: false, resolve: async () => answers.shift()! });
    const url = `https://rebind.example.com:${port()}/`;
    expect(await egress.urlFaultNow(url)).toBeUndefined();
    expect(await post(url)).toMatchObject({ fault: 'connection_failed' });
    expect(answers).toEqual([]);
    expect(receiver.connections).toBe(0);
  });

  it('connects to the very address that it looked up', async () => {
    const asked: string[] = [];
    open({
      resolve: async (name) => {
        asked.push(name);
        return ['127.0.0.1'];
      },
    });
    expect(await post(`http://hooks.example.com.:${port()}/in`)).toMatchObject({ status: 200, body: 'ok' });
    expect(asked).toEqual(['hooks.example.com']);
    expect(receiver.received[0]).toMatchObject({ path: '/in', body: '{"a":1}', headers: { host: `hooks.example.com.:${port()}` } });
  });
});

describe('the way out', () => {
  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    const other = await Receiver.open();
    open();
    receiver.answer = (_, response) => void response.writeHead(status, { location: other.url }).end();
    expect(await post(receiver.url)).toMatchObject({ status });
    expect(other.connections).toBe(0);
    await other.close();
  });

  it('asks no proxy of the environment', async () => {
    const proxy = await Receiver.open();
    await proxied(proxy.url, async () => {
      open();
      expect(await post(receiver.url)).toMatchObject({ status: 200 });
    });
    expect(proxy.connections).toBe(0);
    await proxy.close();
  });

  it('reads 64 KB of an answer, and unpacks nothing', async () => {
    open();
    receiver.answer = (_, response) => {
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    const answer = await post(receiver.url);
    expect(answer).toMatchObject({ status: 200, body: 'x'.repeat(65_536) });
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    receiver.answer = (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    expect(((await post(receiver.url)) as { body: string }).body.length).toBeLessThan(20_000);
  });
});

describe('a server that does not do as it should', () => {
  it.each<[string, Receiver['answer']]>([
    ['does not answer', () => {}],
    ['ends no answer', (_, response) => void response.write('a')],
    [
      'sends a byte now and then',
      async (_, response) => {
        while (!response.destroyed) {
          response.write('a');
          await setTimeout(50);
        }
      },
    ],
  ])('is given up when it %s', async (_, answer) => {
    open({ timeoutMs: 300 });
    receiver.answer = answer;
    const given = await post(receiver.url);
    expect(given).toMatchObject({ fault: 'timeout' });
    expect(given.ms).toBeLessThan(1500);
  });

  it('is given up when nobody answers for its name', async () => {
    open({ timeoutMs: 300, resolve: () => new Promise(() => {}) });
    expect(await post('http://hooks.example.com/')).toMatchObject({ fault: 'timeout' });
  });

  it('shows no more of itself than the kind of its fault', async () => {
    open();
    receiver.answer = (_, response) => void response.destroy();
    expect(await post(receiver.url)).toEqual({ fault: 'connection_failed', ms: expect.any(Number) });
    receiver.answer = (_, response) => void response.socket!.end(`HTTP/1.1 200 OK\r\n${'X-More: y\r\n'.repeat(20_000)}\r\n`);
    expect(await post(receiver.url)).toMatchObject({ fault: 'invalid_response' });
    receiver.answer = (_, response) => void response.socket!.end('what?\r\n\r\n');
    expect(await post(receiver.url)).toMatchObject({ fault: 'invalid_response' });
    expect(await post(receiver.url.replace('http:', 'https:'))).toMatchObject({ fault: 'tls_failed' });
    const { url } = receiver;
    await receiver.close();
    expect(await post(url)).toMatchObject({ fault: 'connection_failed' });
  });
});
