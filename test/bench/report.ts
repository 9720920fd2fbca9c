import { cpus, totalmem } from 'node:os';
import type { Place } from './database.js';
import type { Load } from './load.js';
import type { Workload } from './workloads.js';

/** One round of one server. */
export interface Round extends Load {
  /** Milliseconds of processor time of the server, a request. */
  cpu: number;
}

/** A workload's rounds in pairs: the two of a pair ran next to each other. */
export interface Measured {
  workload: Pick<Workload, 'key' | 'title' | 'target'>;
  server: Round[];
  ceiling: Round[];
  statements: { server: number; ceiling: number };
  bytes: number;
}

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

const perSecond = ({ requests, seconds }: Round) => requests / seconds;
const over = (rounds: Round[], value: (round: Round) => number) => median(rounds.map(value));

function side(rounds: Round[]) {
  const [p50, p99, cpu] = [over(rounds, (r) => r.p50), over(rounds, (r) => r.p99), over(rounds, (r) => r.cpu)];
  return { perSecond: over(rounds, perSecond), p50, p99, cpu };
}

/** The figures of a workload; the ratio is the median over the pairs, so that a slow minute of the machine hits both sides. */
export function figures({ workload: { key, title, target }, server, ceiling, statements, bytes }: Measured) {
  const ratios = ceiling.map((round, i) => perSecond(server[i]!) / perSecond(round));
  const { ratio: least = 0, statements: most } = target;
  const ratio = ratios.length > 0 ? median(ratios) : Number.NaN;
  const reached = !(ratio < least) && (most === undefined || statements.server <= most);
  const spread = [Math.min(...ratios), Math.max(...ratios)];
  return {
    key,
    title,
    target,
    server: side(server),
    ceiling: ratios.length > 0 ? side(ceiling) : undefined,
    statements,
    bytes,
    ratio,
    spread,
    reached,
  };
}

export type Figures = ReturnType<typeof figures>;

const n = (value: number, digits = 0) => value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
const pair = (a: number, b: number | undefined, digits = 0) => (b === undefined ? n(a, digits) : `${n(a, digits)} / ${n(b, digits)}`);

/** A Markdown table: this server / ceiling in each cell. */
export function table(rows: Figures[]): string {
  const head = ['Workload (server / ceiling)', 'req/s', 'p50 ms', 'p99 ms', 'CPU ms a request', 'SQL', 'ratio', 'target'];
  const lines = rows.map(({ title, server: s, ceiling: c, statements, ratio, spread, target, reached }) => {
    const wanted = [target.ratio && `≥ ${target.ratio}`, target.statements && `≤ ${target.statements} SQL`].filter(Boolean).join(', ');
    return [
      title,
      pair(s.perSecond, c?.perSecond),
      pair(s.p50, c?.p50, 1),
      pair(s.p99, c?.p99, 1),
      pair(s.cpu, c?.cpu, 2),
      pair(statements.server, c && statements.ceiling),
      c ? `**${n(ratio, 2)}** (${n(spread[0]!, 2)}–${n(spread[1]!, 2)})` : '',
      `${wanted} ${reached ? 'reached' : 'missed'}`,
    ];
  });
  const rule = head.map((_, i) => (i === 0 ? '---' : '---:'));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** What the figures were measured on. */
export function machine(place: Place, load: string) {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  return { cpus: `${cpus().length} × ${first?.model.trim()}`, memory, node: process.version, postgres: place.version, load };
}
