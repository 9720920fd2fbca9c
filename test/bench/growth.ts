import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filledDatabase } from './database.js';
import type { Size } from './fill.js';
import { ourServer } from './process.js';
import { median } from './report.js';

/*
 * npm run bench:growth: what the first page of every list costs, by each of its sort keys, in a small account and in one a
 * hundred times as large.
 *
 *   BENCH_SMALL, BENCH_LARGE   contacts of the two (10000, 1000000); a fifth as many deals, a twentieth as many companies
 *   BENCH_ONLY                 lists by their paths: /contacts,/deals
 */
const { BENCH_SMALL = '10000', BENCH_LARGE = '1000000', BENCH_PORT = '4170', BENCH_ONLY } = process.env;
const [warm, measured] = [10, 40];
const target = 1.5;

const sizeOf = (contacts: number): Size => ({ contacts, companies: contacts / 20, deals: contacts / 5 });

interface Document {
  paths: Record<string, { get?: { parameters?: { name: string; schema?: { enum?: string[] } }[] } }>;
}

// A key may not read the ones, the other is no page.
const leftOut = ['/api-keys', '/contacts/export'];

/** Every list of the document with each of its sort keys both ways, and as it comes. */
function lists({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const sorts = get?.parameters?.find(({ name }) => name === 'sort')?.schema?.enum;
    if (!sorts || path.includes('{') || leftOut.includes(path) || (BENCH_ONLY && !BENCH_ONLY.split(',').includes(path))) return [];
    return [path, ...sorts.flatMap((sort) => ['asc', 'desc'].map((order) => `${path}?sort=${sort}&order=${order}`))];
  });
}

/** One answer's milliseconds. */
async function time(url: string, key: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
  return performance.now() - began;
}

interface Side {
  base: string;
  key: string;
}

/** The median times of a list in both accounts, asked for in turn, so that a slow minute of the machine hits both. */
async function compare(path: string, sides: [Side, Side]): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < warm + measured; i++) {
    for (const n of i % 2 === 0 ? [0, 1] : [1, 0]) {
      const taken = await time(sides[n]!.base + path, sides[n]!.key);
      if (i >= warm) times[n]!.push(taken);
    }
  }
  return [median(times[0]), median(times[1])];
}

/** A server over an account of the size. */
function serving<T>(name: string, contacts: string, port: number, work: (side: Side) => Promise<T>): Promise<T> {
  return filledDatabase(name, sizeOf(Number(contacts)), async (url, { key }) => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-data-'));
    const server = ourServer({ port, databaseUrl: url, dataDir: folder });
    try {
      await server.ready();
      return await work({ base: `${server.url}/api/v1`, key });
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  });
}

const port = Number(BENCH_PORT);
await serving('crm_bench_small', BENCH_SMALL, port, (small) =>
  serving('crm_bench_large', BENCH_LARGE, port + 1, async (large) => {
    console.log(`| List | ${BENCH_SMALL} contacts, ms | ${BENCH_LARGE} contacts, ms | ratio (target ≤ ${target}) |`);
    console.log('| --- | ---: | ---: | ---: |');
    const document = (await (await fetch(`${small.base}/openapi.json`)).json()) as Document;
    for (const path of lists(document)) {
      const [before, after] = await compare(path, [small, large]);
      const ratio = `${(after / before).toFixed(2)}${after / before > target ? ' missed' : ''}`;
      console.log(`| ${path} | ${before.toFixed(2)} | ${after.toFixed(2)} | ${ratio} |`);
    }
  }),
);
