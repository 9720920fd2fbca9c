import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type KeyClient, server, type TestServer } from '../support/index.js';
import { Stream } from '../support/live.js';

let crm: TestServer;
let key: KeyClient;
beforeAll(async () => {
  crm = await server({ config: { corsOrigins: ['https://app.example.com'] } });
  const account = await crm.seed.account();
  for (let n = 0; n < 30; n++) await account.contact({ firstName: `Contact ${n}` });
  key = await account.key();
});
afterAll(() => crm.close());

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** The bytes as they come over the wire. */
const ask = (path: string, headers: Record<string, string>, { method = 'GET', payload = '' } = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const authorization = `Bearer ${key.secret}`;
    const outgoing = request({ port: crm.wire.port, path, method, headers: { authorization, ...headers } }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode!, headers: incoming.headers, body: Buffer.concat(chunks) }));
    });
    outgoing.on('error', reject);
    outgoing.end(payload);
  });

const list = '/api/v1/contacts';
const textOf = ({ headers, body }: Answer) => {
  const coding = headers['content-encoding'];
  return (coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body).toString();
};

describe('a long answer', () => {
  it.each([
    ['br', 'gzip, deflate, br'],
    ['gzip', 'gzip, deflate'],
    ['gzip', 'br;q=0.1, gzip;q=0.9'],
    ['gzip', 'br;q=0, *'],
    [undefined, 'identity'],
    [undefined, 'gzip;q=0'],
    [undefined, 'nonsense;q=x, ,;'],
  ])('goes as %s to who accepts %s, and is the same', async (coding, accept) => {
    const plain = await ask(list, {});
    const answer = await ask(list, { 'accept-encoding': accept });
    expect(answer.headers['content-encoding']).toBe(coding);
    expect(answer.headers.vary).toContain('Accept-Encoding');
    expect(textOf(answer)).toBe(plain.body.toString());
    expect(Number(answer.headers['content-length'])).toBe(answer.body.length);
    if (coding) expect(answer.body.length).toBeLessThan(plain.body.length / 4);
  });

  it('of GraphQL and of errors is compressed too', async () => {
    const payload = JSON.stringify({ query: '{ contacts { nodes { id name createdAt } } }' });
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'br', accept: 'application/graphql-response+json' };
    const answer = await ask('/graphql', headers, { method: 'POST', payload });
    expect(answer.headers['content-encoding']).toBe('br');
    expect(JSON.parse(textOf(answer)).data.contacts.nodes).toHaveLength(30);
  });

  it('names both of what it depends on', async () => {
    const answer = await ask(list, { 'accept-encoding': 'br', origin: 'https://app.example.com' });
    expect(answer.headers.vary).toBe('Origin, Accept-Encoding');
  });
});

describe('what stays as it is', () => {
  it('short answers, answers to HEAD, and event streams', async () => {
    const short = await ask('/api/v1/tags', { 'accept-encoding': 'br' });
    expect([short.status, short.headers['content-encoding']]).toEqual([200, undefined]);
    const head = await ask(list, { 'accept-encoding': 'br' }, { method: 'HEAD' });
    expect([head.status, head.headers['content-encoding'], head.body.length]).toEqual([200, undefined, 0]);
    const stream = await Stream.open(key, 'subscription { events(after: "0") { id data } }', undefined, { 'accept-encoding': 'br' });
    await stream.nth(20);
    expect(stream.headers['content-encoding']).toBeUndefined();
    stream.cut();
  });

  it('what comes while many others are compressed is answered, compressed or not', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask(list, { 'accept-encoding': 'gzip' })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(textOf)).size).toBe(1);
  });
});
