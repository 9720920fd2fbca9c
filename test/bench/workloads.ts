import type pg from 'pg';
import type { SideName } from './database.js';
import type { Filled } from './fill.js';
import type { Call } from './load.js';
import type { Shape } from './shape.js';
import { callWorkloads } from './workloads.calls.js';
import { contactWorkloads } from './workloads.contacts.js';
import { dealWorkloads } from './workloads.deals.js';
import { talkWorkloads } from './workloads.talk.js';

/** What a workload is compared with. */
export interface Yardstick {
  /** What it is called in the report. */
  name: 'ceiling' | 'kept total' | 'bare inserts' | 'other';
  /** Whose server it is that answers. */
  side: SideName;
  /** Its requests, where they differ from ours. */
  calls?: Call[];
  /** Whether only the rows that are left behind are the same, and the answers are not. */
  hasOtherAnswers?: boolean;
  /** The least share of its requests per second, and at most how many times its processor time a request. */
  target: { ratio?: number; cpu?: number };
}

/** What is measured, and what it is to reach. */
export interface Workload {
  key: string;
  title: string;
  calls: Call[];
  yardsticks: Yardstick[];
  /** Our answer in the form of the yardsticks'. */
  comparable?: (body: never) => unknown;
  /** Whether each request changes something: none is sent a second time before all others were. */
  isWriting?: boolean;
  /** Whether a request is refused when it is sent again: the samples are not sent a second time. */
  isOnce?: boolean;
  /** Fields that differ from request to request. */
  differing?: string[];
  /** The most statements besides the key check. */
  statements?: number;
}

/** What workloads are made from. */
export interface Ground {
  client: pg.Client;
  filled: Filled;
  shape: Shape;
  /** What the servers were told of the vendors and of their own address. */
  settings: Readonly<Record<string, string>>;
}

export const get = (path: string): Call => ({ method: 'GET', path: `/api/v1${path}` });

/** A GraphQL document over HTTP. */
export const graphql = (query: string, variables?: object): Call => ({ method: 'POST', path: '/graphql', body: { query, variables } });

interface Page {
  nodes: object[];
  totalCount: number;
  pageInfo: { hasNextPage: boolean; endCursor: string };
}

/** A connection of 50 as REST shows the page. */
export const asRestPage =
  (page = 1) =>
  ({ data }: { data: Record<string, Page> }) => {
    const { nodes, totalCount: total, pageInfo } = Object.values(data)[0]!;
    const meta = { page, per_page: 50, total, totalPages: Math.ceil(total / 50) };
    return { data: { data: nodes, meta: { ...meta, next_cursor: pageInfo.hasNextPage ? pageInfo.endCursor : null } } };
  };

/** Compared with the ceiling that counts, and with the one whose totals are kept, which need not be given as a gift. */
export const bothCeilings = (counted: number, kept: number, calls?: Call[]): Yardstick[] => [
  { name: 'ceiling', side: 'ceiling', calls, target: { ratio: counted } },
  { name: 'kept total', side: 'kept', calls, target: { ratio: kept } },
];

/** Those that only read come first: what others write would be counted. */
export async function workloads(ground: Ground): Promise<Workload[]> {
  const all = [
    ...(await contactWorkloads(ground)),
    ...(await dealWorkloads(ground)),
    ...(await talkWorkloads(ground)),
    ...(await callWorkloads(ground)),
  ];
  return [...all.filter(({ isWriting }) => !isWriting), ...all.filter(({ isWriting }) => isWriting)];
}

/** Those of the keys that are named; where none has exactly that key, those whose key begins so. */
export function chosen(all: Workload[], names: string[] | undefined): Workload[] {
  if (!names) return all;
  const found = names.flatMap((name) => {
    const exact = all.filter(({ key }) => key === name);
    const those = exact.length > 0 ? exact : all.filter(({ key }) => key.startsWith(name));
    if (those.length === 0) throw new Error(`There is no workload ${name}, only ${all.map(({ key }) => key).join(', ')}`);
    return those;
  });
  return all.filter((workload) => found.includes(workload));
}
