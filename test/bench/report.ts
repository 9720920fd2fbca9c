import { cpus, totalmem } from 'node:os';
import type { Place } from './database.js';
import type { Load } from './load.js';
import type { Workload, Yardstick } from './workloads.js';

/** One round of one server. */
export interface Round extends Load {
  /** Milliseconds of processor time of the server, a request. */
  cpu: number;
  /** The same of PostgreSQL's processes; NaN where they cannot be seen. */
  database: number;
}

/** A workload's rounds, and those of one of its yardsticks: the nth of both ran next to each other. */
export interface Measured {
  workload: Pick<Workload, 'key' | 'title'> & { statements?: number };
  server: Round[];
  statements: number;
  bytes: number;
  rival?: { yardstick: Pick<Yardstick, 'name' | 'target'>; rounds: Round[]; statements: number };
}

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

const perSecond = ({ requests, seconds }: Round) => requests / seconds;

function side(rounds: Round[], statements: number) {
  const over = (value: (round: Round) => number) => median(rounds.map(value));
  const times = { p50: over((r) => r.p50), p99: over((r) => r.p99), cpu: over((r) => r.cpu), database: over((r) => r.database) };
  return { perSecond: over(perSecond), ...times, statements };
}

/** A value of ours as a share of theirs: the median over the pairs, so that a slow minute of the machine hits both sides. */
function shares(ours: Round[], theirs: Round[], value: (round: Round) => number) {
  const all = theirs.map((round, i) => value(ours[i]!) / value(round));
  return { median: median(all), spread: [Math.min(...all), Math.max(...all)] as const };
}

/** The figures of a workload against one of its yardsticks. */
export function figures({ workload, server, statements, bytes, rival }: Measured) {
  const { key, title, statements: most } = workload;
  const isLean = most === undefined || statements <= most;
  const ours = side(server, statements);
  if (!rival) return { key, title, bytes, server: ours, target: { statements: most }, reached: isLean };
  const { yardstick, rounds } = rival;
  const target = { ...yardstick.target, statements: most };
  const [ratio, cpu] = [shares(server, rounds, perSecond), shares(server, rounds, (round) => round.cpu)];
  const reached = ratio.median >= (target.ratio ?? 0) && !(cpu.median > (target.cpu ?? Number.POSITIVE_INFINITY)) && isLean;
  const theirs = { name: yardstick.name, ...side(rounds, rival.statements) };
  return { key, title, bytes, server: ours, rival: theirs, ratio: ratio.median, spread: ratio.spread, cpu: cpu.median, target, reached };
}

export type Figures = ReturnType<typeof figures>;

const n = (value: number, digits = 0) =>
  Number.isNaN(value) ? '–' : value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const pair = (a: number, b: number | undefined, digits = 0) => (b === undefined ? n(a, digits) : `${n(a, digits)} / ${n(b, digits)}`);

function targetText({ target, reached }: Figures): string {
  const { ratio, cpu, statements } = { ratio: undefined, cpu: undefined, ...target };
  const parts = [ratio && `≥ ${ratio}`, cpu && `CPU ≤ ${cpu} ×`, statements && `≤ ${statements} SQL`].filter(Boolean);
  return parts.length > 0 ? `${parts.join(', ')} ${reached ? 'reached' : 'missed'}` : '';
}

/** A Markdown table: this server / what it is compared with in each cell, columns of one width. */
export function table(rows: Figures[]): string {
  const head = ['Workload', 'against', 'ratio', 'target', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms', 'CPU ×', 'PostgreSQL ms', 'SQL'];
  const lines = rows.map((row) => {
    const { title, server: s, rival: r } = row;
    return [
      title,
      r?.name ?? '',
      row.spread ? `**${n(row.ratio, 2)}** (${n(row.spread[0], 2)}–${n(row.spread[1], 2)})` : '',
      targetText(row),
      pair(s.perSecond, r?.perSecond),
      pair(s.p50, r?.p50, 1),
      pair(s.p99, r?.p99, 1),
      pair(s.cpu, r?.cpu, 2),
      row.cpu === undefined ? '' : n(row.cpu, 2),
      pair(s.database, r?.database, 2),
      pair(s.statements, r?.statements),
    ];
  });
  const widths = head.map((name, i) => Math.max(name.length, ...lines.map((cells) => cells[i]!.length)));
  const padded = (cells: string[]) => cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)));
  const rule = widths.map((width, i) => (i < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [padded(head), rule, ...lines.map(padded)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** What the figures were measured on. */
export function machine(place: Place, load: string) {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return { cpus: `${cpus().length} × ${first?.model.trim()}`, memory, node: process.version, postgres: place.version, load };
}
