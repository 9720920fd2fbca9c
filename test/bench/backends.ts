import { readFileSync } from 'node:fs';
import type pg from 'pg';
import { cpuOf } from './process.js';

/** Milliseconds of processor time by process. */
export type Times = ReadonlyMap<number, number>;

/** What PostgreSQL's processes of a database have taken so far; empty where they run on another machine. */
export async function backendTimes(client: pg.Client, url: string): Promise<Times> {
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity where datname = $1', [
    new URL(url).pathname.slice(1),
  ]);
  return new Map(rows.flatMap(({ pid }) => timeOf(pid)));
}

function timeOf(pid: number): [number, number][] {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres' ? [[pid, cpuOf(pid)]] : [];
  } catch {
    return [];
  }
}

/** What was taken between two moments, processes that ended aside; NaN where there is none to be seen. */
export function spent(before: Times, after: Times): number {
  if (after.size === 0) return Number.NaN;
  return [...after].reduce((sum, [pid, time]) => sum + time - (before.get(pid) ?? 0), 0);
}
