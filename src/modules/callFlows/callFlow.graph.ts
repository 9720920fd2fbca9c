import { isDeepStrictEqual } from 'node:util';
import { unprocessable } from '../../kernel/base/errors.js';
import { isLonger } from '../../kernel/base/unicode.js';
import { isUuid } from '../../kernel/model/checks.js';
import { CallEnding } from './callFlow.model.js';

/** A node as it is kept in a draft: of its members only the id is certain. */
export interface DraftNode {
  id: string;
  kind?: unknown;
  [member: string]: unknown;
}

/** Contract "Call flow": a graph as it is kept in a draft, with whatever faults. */
export interface DraftGraph {
  entryId?: unknown;
  nodes: DraftNode[];
}

interface Leads {
  id: string;
  next: string;
}
interface Spoken {
  text?: string | null;
  audioUrl?: string | null;
}

export interface Hours {
  /** 0 is Sunday. */
  day: number;
  start: string;
  end: string;
}

export interface Queue {
  holdSeconds: number;
  pressOneVoicemail?: boolean | null;
  repeatRing?: boolean | null;
}

export type AgentNode = Leads & { kind: 'agent'; userId: string; ringSeconds: number };
export type GroupNode = Leads & {
  kind: 'group';
  name?: string | null;
  mode: 'simultaneous' | 'round_robin' | 'weighted';
  members: { userId: string; weight?: number | null }[];
  ringSeconds: number;
  queue?: Queue | null;
};
export type MenuNode = Leads &
  Spoken & {
    kind: 'menu';
    options: { digit: string | number; label?: string | null; next: string }[];
    timeoutSeconds?: number | null;
    retries?: number | null;
  };
export type TimingNode = Leads & { kind: 'timing'; hours: Hours[]; timezone?: string | null; closedNext: string };
export type EndingNode = { id: string } & (
  | { kind: 'voicemail'; text?: string | null }
  | { kind: 'forward'; phoneNumber: string }
  | { kind: 'hangup'; message?: string | null }
);

/** A node of a graph that was published, and so has no faults. */
export type FlowNode =
  | (Leads & { kind: 'entry' })
  | (Leads & Spoken & { kind: 'greeting' })
  | AgentNode
  | GroupNode
  | MenuNode
  | TimingNode
  | EndingNode;

export const isEnding = (kind: string): kind is keyof typeof CallEnding => Object.hasOwn(CallEnding, kind);
export const kinds = ['entry', 'greeting', 'agent', 'group', 'menu', 'timing', ...Object.keys(CallEnding)];

/** A member of a node as a word. Whatever is no text is none: a list of one word would pass for the word, and not be found as it. */
export const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What came as a draft, if it has the shape of a graph. Throws 422 naming the member at fault: contract POST /call-flows, "blank or
 * duplicate node id, menu options not an array of objects with digit". All other faults may be kept, and are blockers.
 */
export function graphOf(given: unknown): DraftGraph {
  if (!isObject(given)) throw unprocessable('draftGraph', 'invalid_type', 'must be an object {entryId, nodes}');
  if (!Array.isArray(given.nodes)) throw unprocessable('draftGraph.nodes', 'invalid_type', 'must be a list');
  const seen = new Set<string>();
  for (const [nth, node] of given.nodes.entries()) checkNode(node, `draftGraph.nodes.${nth}`, seen);
  return { ...given, nodes: given.nodes };
}

/** Ids are keys of an index, and stand in the addresses of a call, which neither take texts of any length. */
const longestId = 200;

function checkNode(node: unknown, at: string, seen: Set<string>): void {
  if (!isObject(node)) throw unprocessable(at, 'invalid_type', 'must be an object');
  const { id, kind, options } = node;
  if (typeof id !== 'string' || id.trim() === '') throw unprocessable(`${at}.id`, 'required', 'must be text that is not blank');
  if (isLonger(id, longestId)) throw unprocessable(`${at}.id`, 'too_long', `must be at most ${longestId} characters`);
  if (seen.has(id)) throw unprocessable(`${at}.id`, 'taken', 'is the id of another node');
  seen.add(id);
  if (kind !== 'menu' || options === undefined) return;
  if (!Array.isArray(options)) throw unprocessable(`${at}.options`, 'invalid_type', 'must be a list');
  options.forEach((option: unknown, nth) => {
    const hasDigit = isObject(option) && ['string', 'number'].includes(typeof option.digit);
    if (!hasDigit) throw unprocessable(`${at}.options.${nth}`, 'invalid_type', 'must be an object with digit');
  });
}

/** What a flow has that came without a graph: whoever calls leaves a message. */
export const seededGraph = (): DraftGraph => ({
  entryId: 'entry',
  nodes: [
    { id: 'entry', kind: 'entry', next: 'voicemail' },
    { id: 'voicemail', kind: 'voicemail', next: null },
  ],
});

export const isSameGraph = (a: DraftGraph, b: DraftGraph): boolean => isDeepStrictEqual(a, b);

/** Where a node leads to, whatever it says there. */
export function branchesOf({ kind, next, closedNext, options }: DraftNode): unknown[] {
  if (isEnding(wordOf(kind))) return [];
  if (kind === 'timing') return [next, closedNext];
  if (kind !== 'menu' || !Array.isArray(options)) return [next];
  const branches = options.map((option: DraftNode) => option.next);
  branches.push(next);
  return branches;
}

/** The member that says the nth branch of a node. */
export function branchName({ kind, options }: DraftNode, nth: number): string {
  if (kind === 'timing') return nth === 0 ? 'next' : 'closedNext';
  return kind === 'menu' && Array.isArray(options) && nth < options.length ? `options.${nth}.next` : 'next';
}

/** Whom a node names, spelled as the database spells ids. What is no id, as an editor keeps of a node that has nobody yet, names nobody. */
export const personOf = (userId: unknown): string => (isUuid(userId) ? userId.toLowerCase() : '');

/** Whom a graph may ring. */
export function usersOf({ nodes }: DraftGraph): string[] {
  const ids = nodes.flatMap(({ kind, userId, members }) => {
    if (kind === 'agent') return [personOf(userId)];
    return kind === 'group' && Array.isArray(members) ? members.map((member) => (isObject(member) ? personOf(member.userId) : '')) : [];
  });
  return [...new Set(ids.filter(Boolean))];
}

/** Where a graph may forward to. */
export const forwardsOf = ({ nodes }: DraftGraph): string[] => [
  ...new Set(nodes.flatMap(({ kind, phoneNumber }) => (kind === 'forward' && typeof phoneNumber === 'string' ? [phoneNumber] : []))),
];
