import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { server, type TestServer } from '../support/index.js';

let api: TestServer;
beforeAll(async () => {
  api = await server({ config: { board: true } });
});
afterAll(() => api.close());

const get = (path: string) => fetch(`http://127.0.0.1:${api.wire.port}${path}`);
const page = async () => (await get('/board')).text();
const assetsOf = (html: string) => [...html.matchAll(/(?:src|href)="(\/board\/assets\/[^"]+)"/g)].map(([, path]) => path!);

describe('the board', () => {
  it('is one page at each of its addresses, which runs nothing but its own files', async () => {
    const id = '0b9f4c9e-5a4e-4f0e-9a4e-3b8f1c2d7e65';
    const paths = ['', '/contacts', `/contacts/${id}`, '/inbox', `/inbox/${id}`, '/calendar', '/calls'].map((path) => `/board${path}`);
    for (const path of paths) {
      const reply = await get(path);
      expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-cache']);
      expect(reply.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
      const html = await reply.text();
      expect(html).toBe(await page());
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/);
    }
  });

  it('has files that never change under their names, at most 200 KB in all as they are sent', async () => {
    const assets = assetsOf(await page());
    expect(assets.length).toBeGreaterThanOrEqual(3);
    let size = 0;
    for (const path of assets) {
      const reply = await get(path);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      size += gzipSync(Buffer.from(await reply.arrayBuffer())).length;
    }
    expect(size).toBeLessThanOrEqual(200_000);
    expect((await get('/board/assets/nothing.js')).status).toBe(404);
  });

  it('is not there where it is not asked for', async () => {
    const without = await server({ config: { board: false } });
    const reply = await fetch(`http://127.0.0.1:${without.wire.port}/board`);
    expect(reply.status).toBe(404);
    await without.close();
  });
});

describe('an address where no page is', () => {
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const ask = (path: string, headers: Record<string, string> = {}) => fetch(`http://127.0.0.1:${api.wire.port}${path}`, { headers });

  it('is a page for whoever looks at pages, which leads back', async () => {
    for (const [path, way] of [
      ['/board/nothing', '/board'],
      ['/board/contacts/a/b', '/board'],
      ['/nothing', '/'],
    ] as const) {
      const reply = await ask(path, browser);
      expect([reply.status, reply.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      const links = [...(await reply.text()).matchAll(/href="([^"]+)"/g)].map(([, href]) => href);
      expect([path, links]).toEqual([path, [way]]);
    }
  });

  it('is an error of the API for programs, and below the APIs for everybody', async () => {
    for (const [path, headers] of [
      ['/board/nothing', { accept: '*/*' }],
      ['/board/nothing', { accept: 'application/json, text/html;q=0' }],
      ['/api/v1/nothing', browser],
      ['/api', browser],
    ] as const) {
      const reply = await ask(path, headers);
      expect([reply.status, await reply.json()]).toEqual([
        404,
        { code: 'not_found', error: 'Endpoint not found', requestId: expect.any(String) },
      ]);
    }
  });
});
