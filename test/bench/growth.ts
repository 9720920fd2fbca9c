import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filledDatabase } from './database.js';
import type { Size } from './fill.js';
import { exported } from './growth.export.js';
import { type Document, type Page, pagesOf, type Sample } from './growth.pages.js';
import { ourServer } from './process.js';
import { median } from './report.js';

/*
 * npm run bench:growth: what the first page of every list costs, by each of its sort keys and with each of its parameters, in a
 * small account and in one a hundred times as large. A page of at most 1,000 matches must cost what it does in the small account;
 * what more match is bound by its exact total, which must be counted fast. And what the export costs, against COPY by psql.
 *
 *   BENCH_SMALL, BENCH_LARGE   contacts of the two (10000, 1000000); as many messages, half as many calls and appointments, a fifth
 *                              as many deals, a twentieth as many companies
 *   BENCH_ONLY                 lists by their paths: /contacts,/deals
 *   BENCH_TIMES                how often each page is measured (40)
 *   BENCH_MISSED=1             shows only what misses its target
 */
const { BENCH_SMALL = '10000', BENCH_LARGE = '1000000', BENCH_PORT = '4170', BENCH_ONLY, BENCH_TIMES = '40', BENCH_MISSED } = process.env;
const measured = Number(BENCH_TIMES);
const warm = Math.ceil(measured / 4);
const targets = { ratio: 1.25, noise: 0.5, broad: 60, export: 0.4 };
/** Matches up to which a filter is selective. */
const few = 1000;

const sizeOf = (contacts: number): Size => ({
  ...{ contacts, companies: contacts / 20, deals: contacts / 5 },
  ...{ messages: contacts, calls: contacts / 2, appointments: contacts / 2 },
});

interface Side {
  base: string;
  key: string;
  /** Its database, and the account in it. */
  url: string;
  accountId: string;
}

async function ask({ base, key }: Side, path: string): Promise<Response> {
  const answer = await fetch(base + path, { headers: { authorization: `Bearer ${key}` } });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status} ${await answer.text()}`);
  return answer;
}

/** One answer's milliseconds. */
async function time(side: Side, path: string): Promise<number> {
  const began = performance.now();
  await (await ask(side, path)).arrayBuffer();
  return performance.now() - began;
}

/** The records of a list's first page. */
async function recordsOf(side: Side, path: string): Promise<Sample[]> {
  const { data } = (await (await ask(side, `${path}?per_page=200`)).json()) as { data: Sample[] | { data: Sample[] } };
  return Array.isArray(data) ? data : data.data;
}

/** How many records match; undefined where the answer does not say. */
async function matchesOf(side: Side, path: string): Promise<number | undefined> {
  const answer = await ask(side, path);
  const { data, meta } = (await answer.json()) as { data?: { meta?: { total: number } }; meta?: { total: number } };
  const header = answer.headers.get('x-total-count');
  return data?.meta?.total ?? meta?.total ?? (header === null ? undefined : Number(header));
}

/** The median times of a page in both accounts, asked for in turn, so that a slow minute of the machine hits both. */
async function compare({ paths }: Page, sides: [Side, Side]): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < warm + measured; i++) {
    for (const n of i % 2 === 0 ? [0, 1] : [1, 0]) {
      const taken = await time(sides[n]!, paths[n]!);
      if (i >= warm) times[n]!.push(taken);
    }
  }
  return [median(times[0]), median(times[1])];
}

/** What a page is bound by, and whether it keeps to that. */
function verdict(page: Page, [before, after]: [number, number], matches: [number?, number?]): { target: string; isMissed: boolean } {
  const [small = 0, large = 0] = matches;
  if (page.isFiltered && large > Math.max(few, small)) {
    const perCount = (after - before) / ((large - small) / 100_000);
    return { target: `${perCount.toFixed(0)} ms a 100,000`, isMissed: perCount > targets.broad };
  }
  return { target: `ratio ≤ ${targets.ratio}`, isMissed: after / before > targets.ratio && after - before > targets.noise };
}

/** A server over an account of the size. */
function serving<T>(name: string, contacts: string, port: number, work: (side: Side) => Promise<T>): Promise<T> {
  return filledDatabase(name, sizeOf(Number(contacts)), async (url, { key, accountId }) => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-data-'));
    const server = ourServer({ port, databaseUrl: url, dataDir: folder });
    try {
      await server.ready();
      return await work({ base: `${server.url}/api/v1`, key, url, accountId });
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  });
}

async function report(sides: [Side, Side]): Promise<void> {
  const document = (await (await ask(sides[0], '/openapi.json')).json()) as Document;
  const pages = await pagesOf(document, BENCH_ONLY?.split(','), (paths) =>
    Promise.all([recordsOf(sides[0], paths[0]), recordsOf(sides[1], paths[1])]),
  );
  console.log(`| Page | ${BENCH_SMALL} contacts, ms | ${BENCH_LARGE} contacts, ms | ratio | matches | target |`);
  console.log('| --- | ---: | ---: | ---: | ---: | --- |');
  let missed = 0;
  for (const page of pages) {
    const matches = await Promise.all([matchesOf(sides[0], page.paths[0]), matchesOf(sides[1], page.paths[1])]).catch((error: Error) =>
      console.error(`left out: ${error.message.slice(0, 200)}`),
    );
    // What could not be asked was not shown to keep to its target.
    if (!matches) {
      missed++;
      continue;
    }
    const times = await compare(page, sides);
    const { target, isMissed } = verdict(page, times, matches);
    if (isMissed) missed++;
    if (BENCH_MISSED && !isMissed) continue;
    const [before, after] = times.map((taken) => taken.toFixed(2));
    const ratio = (times[1] / times[0]).toFixed(2);
    console.log(`| ${page.title} | ${before} | ${after} | ${ratio} | ${matches[1] ?? ''} | ${target}${isMissed ? ' missed' : ''} |`);
  }
  console.log(`\n${missed} of ${pages.length} pages miss their targets.`);
  const [, large] = sides;
  const readAll = async () => (await ask(large, '/contacts/export')).body!.pipeTo(new WritableStream());
  const [ours, theirs] = await exported(readAll, large.url, large.accountId);
  console.log(
    `The export takes ${ours.toFixed(2)} s, COPY of the same ${theirs.toFixed(2)} s: ${(theirs / ours).toFixed(2)} (target ≥ ${targets.export})`,
  );
}

const port = Number(BENCH_PORT);
await serving('crm_bench_small', BENCH_SMALL, port, (small) =>
  serving('crm_bench_large', BENCH_LARGE, port + 1, (large) => report([small, large])),
);
