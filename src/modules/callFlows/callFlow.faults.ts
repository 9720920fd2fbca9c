import { isZone } from '../../kernel/base/timeZones.js';
import { branchesOf, type DraftGraph, type DraftNode, endings, kinds, wordOf } from './callFlow.graph.js';
import { minuteOf } from './callFlow.hours.js';
import type { Blocker, BlockerCode } from './callFlow.model.js';

type Found = (code: BlockerCode, message: string) => void;

const isE164 = (value: unknown): value is string => typeof value === 'string' && /^\+[1-9]\d{6,14}$/.test(value);
const isBetween = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
const isAbsent = (value: unknown) => value === undefined || value === null;
const membersOf = ({ members }: DraftNode) => (Array.isArray(members) ? members : []) as ({ userId?: unknown; weight?: unknown } | null)[];

/** Seconds that a phone may ring: what Twilio takes. */
const ring = [1, 600] as const;
/** Contract "Limits". */
const hold = [10, 300] as const;

const checkRing: Check = ({ ringSeconds }, found) => {
  if (!isBetween(ringSeconds, ...ring)) found('bad_ring_seconds', `ringSeconds must be whole seconds from ${ring[0]} to ${ring[1]}`);
};

type Check = (node: DraftNode, found: Found) => void;

const checkGroup: Check = (node, found) => {
  const { mode, queue } = node as { mode?: unknown; queue?: { holdSeconds?: unknown } | null };
  const members = membersOf(node);
  if (!['simultaneous', 'round_robin', 'weighted'].includes(wordOf(mode)))
    found('bad_graph', 'mode must be simultaneous, round_robin or weighted');
  if (members.length === 0) found('empty_group', 'The group has no members');
  checkRing(node, found);
  if (!isAbsent(queue) && !isBetween(queue.holdSeconds, ...hold))
    found('bad_ring_seconds', `queue.holdSeconds must be whole seconds from ${hold[0]} to ${hold[1]}`);
  if (mode !== 'weighted' || members.length === 0) return;
  const weights = members.map((member) => member?.weight);
  const isWeight = (weight: unknown): weight is number => typeof weight === 'number' && weight >= 0;
  const sum = weights.every(isWeight) ? weights.reduce((all, weight) => all + weight, 0) : Number.NaN;
  // Shares such as 33.3 are binary fractions, whose sum may miss 100 by less than any of them means.
  if (!(Math.abs(sum - 100) < 1e-6)) found('weights_not_100', 'The weights must be numbers that total 100');
};

const checkSpoken: Check = (node, found) => {
  for (const name of ['text', 'audioUrl', 'message'])
    if (!isAbsent(node[name]) && typeof node[name] !== 'string') found('bad_graph', `${name} must be text`);
};

const checkMenu: Check = (node, found) => {
  checkSpoken(node, found);
  const { options, timeoutSeconds, retries } = node;
  const digits = (Array.isArray(options) ? options : []).map(({ digit }) => String(digit));
  if (digits.length === 0) found('bad_menu', 'The menu offers nothing');
  if (digits.some((digit) => !/^[0-9*#]$/.test(digit))) found('bad_menu', 'A digit must be one of 0 to 9, * and #');
  if (new Set(digits).size < digits.length) found('bad_menu', 'Two options have the same digit');
  if (!isAbsent(timeoutSeconds) && !isBetween(timeoutSeconds, 1, 60))
    found('bad_menu', 'timeoutSeconds must be whole seconds from 1 to 60');
  if (!isAbsent(retries) && !isBetween(retries, 0, 10)) found('bad_menu', 'retries must be a whole number from 0 to 10');
};

const checkTiming: Check = ({ hours, timezone }, found) => {
  const spans = (Array.isArray(hours) ? hours : []) as ({ day?: unknown; start?: unknown; end?: unknown } | null)[];
  if (spans.length === 0) found('bad_timing', 'There are no hours');
  const isSpan = (span: (typeof spans)[number]) =>
    span && isBetween(span.day, 0, 6) && minuteOf(span.start) !== undefined && minuteOf(span.end) !== undefined;
  if (!spans.every(isSpan)) found('bad_timing', 'Hours must be a day from 0 to 6 and a start and an end as HH:MM');
  if (!isAbsent(timezone) && !(typeof timezone === 'string' && isZone(timezone))) found('bad_timing', 'timezone must be an IANA time zone');
};

const checkForward: Check = ({ phoneNumber }, found) => {
  if (!isE164(phoneNumber)) found('bad_forward_number', 'phoneNumber must be in E.164 form (+15551234567)');
};

// No object: a kind may be any text, also the name of what every object has.
const checks = new Map<unknown, Check>([
  ['greeting', checkSpoken],
  ['voicemail', checkSpoken],
  ['hangup', checkSpoken],
  ['agent', checkRing],
  ['group', checkGroup],
  ['menu', checkMenu],
  ['timing', checkTiming],
  ['forward', checkForward],
]);

/** The nodes that some of them lead to, themselves included. */
function reached(from: readonly string[], leadsTo: (id: string) => readonly string[]): Set<string> {
  const seen = new Set(from);
  const open = [...seen];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const to of leadsTo(id))
      if (!seen.has(to)) {
        seen.add(to);
        open.push(to);
      }
  return seen;
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** Where the nodes of a graph lead to, and whence they are reached. */
interface Edges {
  byId: ReadonlyMap<string, DraftNode>;
  leads: Map<string, string[]>;
  comesFrom: Map<string, string[]>;
}

type Add = (nodeId: string | null, code: BlockerCode, message: string) => void;

/** The edges of a graph; what names no node, and nodes that are none, are told. */
function edgesOf({ nodes }: DraftGraph, add: Add): Edges {
  const edges: Edges = { byId: new Map(nodes.map((node) => [node.id, node])), leads: new Map(), comesFrom: new Map() };
  for (const node of nodes) {
    if (!kinds.includes(wordOf(node.kind))) add(node.id, 'bad_graph', `kind must be one of ${kinds.join(', ')}`);
    for (const { member, to } of branchesOf(node)) {
      if (isAbsent(to)) continue;
      if (typeof to !== 'string' || !edges.byId.has(to)) {
        add(node.id, 'bad_graph', `${member} names no node`);
        continue;
      }
      push(edges.leads, node.id, to);
      push(edges.comesFrom, to, node.id);
    }
  }
  return edges;
}

/** What is wrong with where nodes lead: every branch must name a node and reach an ending, and every node must be reached. */
function pathFaults(graph: DraftGraph): Blocker[] {
  const { entryId, nodes } = graph;
  const found: Blocker[] = [];
  const add: Add = (nodeId, code, message) => found.push({ nodeId, code, message });
  const { byId, leads, comesFrom } = edgesOf(graph, add);
  const entry = byId.get(wordOf(entryId));
  if (entry?.kind !== 'entry') add(null, 'bad_graph', 'entryId must name a node of the kind entry');
  for (const node of nodes) if (node.kind === 'entry' && node !== entry) add(node.id, 'bad_graph', 'There is another entry');
  const ends = nodes.filter(({ kind }) => endings.includes(wordOf(kind))).map(({ id }) => id);
  if (ends.length === 0) add(null, 'missing_ending', 'There is no voicemail, forward or hangup');
  if (!entry) return found;
  const alive = reached([entry.id], (id) => leads.get(id) ?? []);
  const ending = reached(ends, (id) => comesFrom.get(id) ?? []);
  const isLost = ({ to }: { to: unknown }) => isAbsent(to) || (byId.has(wordOf(to)) && !ending.has(wordOf(to)));
  for (const node of nodes) {
    const lost = alive.has(node.id) && branchesOf(node).find(isLost);
    if (lost) add(node.id, 'path_no_ending', `${lost.member} reaches no ending`);
  }
  for (const { id } of nodes) if (!alive.has(id)) add(id, 'unreachable_node', 'Nothing leads here');
  return found;
}

/** What keeps a graph from being published, as far as it says so by itself: that of the paths first. Its time is linear in the nodes. */
export function graphFaults(graph: DraftGraph): Blocker[] {
  const own = graph.nodes.flatMap((node) => {
    const faults: Blocker[] = [];
    checks.get(node.kind)?.(node, (code, message) => faults.push({ nodeId: node.id, code, message }));
    return faults;
  });
  return [...pathFaults(graph), ...own];
}
