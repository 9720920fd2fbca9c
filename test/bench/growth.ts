import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { filledDatabase } from './database.js';
import type { Size } from './fill.js';
import { Running } from './process.js';

/*
 * npm run bench:growth: what the first page of every list costs, by each of its sort keys, in a small account and in one a
 * hundred times as large.
 *
 *   BENCH_SMALL, BENCH_LARGE   contacts of the two (10000, 1000000); a fifth as many deals, a twentieth as many companies
 */
const { BENCH_SMALL = '10000', BENCH_LARGE = '1000000', BENCH_PORT = '4170' } = process.env;
const [warm, measured] = [10, 40];
const target = 1.5;

const sizeOf = (contacts: number): Size => ({ contacts, companies: contacts / 20, deals: contacts / 5 });

interface Document {
  paths: Record<string, { get?: { parameters?: { name: string; schema?: { enum?: string[] } }[] } }>;
}

// A key may not read them.
const forSessions = ['/api-keys'];

/** Every list of the document with each of its sort keys both ways, and as it comes. */
function lists({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const sorts = get?.parameters?.find(({ name }) => name === 'sort')?.schema?.enum;
    if (!sorts || path.includes('{') || forSessions.includes(path)) return [];
    return [path, ...sorts.flatMap((sort) => ['asc', 'desc'].map((order) => `${path}?sort=${sort}&order=${order}`))];
  });
}

async function milliseconds(url: string, key: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < warm + measured; i++) {
    const began = performance.now();
    const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
    if (!answer.ok) throw new Error(`${url} answers ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
    if (i >= warm) times.push(performance.now() - began);
  }
  return times.sort((a, b) => a - b)[measured / 2]!;
}

/** The median time of each list in an account of the size. */
function measure(name: string, size: Size): Promise<Map<string, number>> {
  return filledDatabase(name, size, async (url, { key }) => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-data-'));
    const env = { DATABASE_URL: url, SECRET_KEY: 'b'.repeat(64), DATA_DIR: folder, LOG_LEVEL: 'warn', RATE_LIMIT_ENABLED: '0' };
    const server = new Running('the server', Number(BENCH_PORT), [resolve('dist/src/main.js')], env);
    try {
      await server.ready();
      const base = `${server.url}/api/v1`;
      const found = new Map<string, number>();
      for (const path of lists((await (await fetch(`${base}/openapi.json`)).json()) as Document)) {
        found.set(path, await milliseconds(base + path, key));
      }
      return found;
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  });
}

const small = await measure('crm_bench_small', sizeOf(Number(BENCH_SMALL)));
const large = await measure('crm_bench_large', sizeOf(Number(BENCH_LARGE)));
console.log(
  `| List | ${BENCH_SMALL} contacts, ms | ${BENCH_LARGE} contacts, ms | ratio (target ≤ ${target}) |\n| --- | ---: | ---: | ---: |`,
);
for (const [path, before] of small) {
  const after = large.get(path)!;
  console.log(
    `| ${path} | ${before.toFixed(2)} | ${after.toFixed(2)} | ${(after / before).toFixed(2)}${after / before > target ? ' missed' : ''} |`,
  );
}
